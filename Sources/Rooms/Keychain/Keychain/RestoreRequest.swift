// Restores the last verified copy of a damaged database: only if it is damaged, only with the user's consent, and only the copy whose date
// they saw, since items deleted after that date come back with it.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanUserModel

struct RestoreRequest {
    let services: KeychainServices
    let caller: Caller
    let enclave: any EnclaveOperations
    let sink: any ReplySink

    /// Describes the copy, or restores the copy of a date if one is given.
    func serve(_ date: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "The keychain is restored with the command vauban doctor") }
        let (copy, since) = try services.databases.restorable(of: caller.user)
        guard let date else {
            try sink.send(.restorable(RestorableCopy(date: copy.date, rows: copy.rows, damagedSince: since)))
            return try sink.send(.done)
        }
        // In user mode any program of the user could do the same with the file itself.
        if caller.identity != nil {
            do {
                _ = try enclave.consent(Consent(.restore, offered: .once, item: "\(copy.rows) items of an earlier date"), reason: nil)
            } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
                // A user without a passcode has chosen to be asked for no consent.
            }
        }
        try services.databases.restore(caller.user, copyOf: date)
        services.logger.notice("restored the last verified copy of a database", metadata: ["user": "\(caller.user)"])
        try sink.send(.done)
    }
}
