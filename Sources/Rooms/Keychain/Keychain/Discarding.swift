// What no key opens any more is removed; only the enclave can say that it is so.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanKeychainWire
internal import VaubanRefusal

extension RequestInProgress {
    /// Removes every row whose class key was destroyed for good, and everything if the keychain was erased. Needs no key.
    func discard() throws {
        guard caller.isOwnHand else { throw Refusal(.notAllowedHere, "what no key opens any more is removed with the program vauban") }
        for (purpose, generation) in try database.indexKeyGenerations() {
            if try fate(purpose, generation) == .destroyed { try empty(purpose, recorded: generation) }
        }
        func isGone(_ rows: RowGeneration) throws -> Bool { try fate(rows.protection, rows.generation) == .destroyed }
        // A copy from before still has what was erased. Where nothing was, it is the one thing to go back to.
        if try database.verifiedGenerations().contains(where: isGone) { try database.forgetVerified() }
        let gone = try (database.generations() + database.quarantinedGenerations() + database.historyGenerations()).filter(isGone)
        for rows in gone { try database.remove(rows) }
        if !gone.isEmpty { try database.forgetOldPages() }
        try sink.send(.done)
    }

    /// Empties a database whose index key is destroyed: nothing in it can be found any more, and nothing be opened.
    func empty(_ purpose: Int64, recorded: [UInt8]) throws {
        guard try database.empty(ifIndexKey: purpose, is: recorded) else { return }
        parts.logger.notice("emptied the database of a keychain that was erased", metadata: ["user": "\(user)"])
    }

    func fate(_ purpose: Int64, _ generation: [UInt8]) throws -> KeyFate {
        // What is no name of a key was never one.
        guard (1...255).contains(purpose), generation.count == 8 else { return .unknown }
        return try enclave.fate(KeyName(purpose: purpose, generation: generation))
    }
}
