// Removes rows that no key opens any more, as determined by the enclave.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanKeychainWire
internal import VaubanRefusal

extension RequestInProgress {
    /// Removes every row whose class key was destroyed, and all rows if the keychain was erased. Uses no key.
    func discard() throws {
        guard caller.isUserAtCommandLine else {
            throw Refusal(.notAllowedHere, "Items that no key opens are removed with the vauban command")
        }
        for (purpose, generation) in try database.indexKeyGenerations() {
            if try keyStatus(purpose, generation) == .destroyed { try empty(purpose, recorded: generation) }
        }
        func isGone(_ rows: RowGeneration) throws -> Bool { try keyStatus(rows.protection, rows.generation) == .destroyed }
        // The verified copy still contains what was erased. If nothing was erased, it stays, since it is the only fallback.
        if try database.verifiedGenerations().contains(where: isGone) { try database.forgetVerified() }
        let gone = try (database.generations() + database.quarantinedGenerations() + database.historyGenerations()).filter(isGone)
        for rows in gone { try database.remove(rows) }
        if !gone.isEmpty { try database.forgetOldPages() }
        try sink.send(.done)
    }

    /// Empties a database whose index key was destroyed, since nothing in it can be found or opened.
    func empty(_ purpose: Int64, recorded: [UInt8]) throws {
        guard try erasingLog({ try database.empty(ifIndexKey: purpose, is: recorded) }) else { return }
        services.logger.notice("emptied the database of a keychain that was erased", metadata: ["user": "\(user)"])
    }

    func keyStatus(_ purpose: Int64, _ generation: [UInt8]) throws -> KeyStatus {
        // A purpose or generation out of range cannot name a key.
        guard (1...255).contains(purpose), generation.count == 8 else { return .unknown }
        return try enclave.keyStatus(of: KeyName(purpose: purpose, generation: generation))
    }
}
