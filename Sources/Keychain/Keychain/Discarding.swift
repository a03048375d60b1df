// What no key opens any more is removed; only the enclave can say that it is so.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanKeychainWire

extension RequestInProgress {
    /// Removes every row whose class key was destroyed for good, and everything if the keychain was erased. Needs no key.
    func discard() throws {
        for (purpose, generation) in try database.indexKeyGenerations() {
            if try fate(purpose, generation) == .destroyed { try empty(purpose, recorded: generation) }
        }
        // Some key has gone for good, and a copy from before still has what it opened.
        try database.forgetVerified()
        var isAny = false
        for rows in try database.generations() + database.quarantinedGenerations() where try fate(rows.protection, rows.generation) == .destroyed {
            try database.remove(rows)
            isAny = true
        }
        if isAny { try database.forgetOldPages() }
        try sink.send(.done)
    }

    /// Empties a database whose index key is destroyed: nothing in it can be found any more, and nothing be opened.
    func empty(_ purpose: Int64, recorded: [UInt8]) throws {
        guard try database.empty(ifIndexKey: purpose, is: recorded) else { return }
        parts.logger.notice("emptied the database of a keychain that was erased", metadata: ["person": "\(person)"])
    }

    func fate(_ purpose: Int64, _ generation: [UInt8]) throws -> KeyFate {
        // What is no name of a key was never one.
        guard (1...255).contains(purpose), generation.count == 8 else { return .unknown }
        return try enclave.fate(KeyName(purpose: purpose, generation: generation))
    }
}
