// Restores the last verified copy of a damaged database. The database must be damaged, the user must consent, and the copy must be the one
// whose date they saw, since items deleted after that date reappear.

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

    /// Describes the copy if `date` is nil, otherwise restores the copy of that date.
    func serve(_ date: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "The keychain is restored with the command vauban doctor") }
        let (copy, since) = try services.databases.restorable(of: caller.user)
        guard let date else {
            try sink.send(.restorable(RestorableCopy(date: copy.date, rows: copy.rows, damagedSince: since)))
            return try sink.send(.done)
        }
        // In user mode any program of the user could replace the file itself.
        if caller.identity != nil {
            do {
                _ = try enclave.consent(Consent(.restore, offered: .once, item: "\(copy.rows) items of an earlier date"), reason: nil)
            } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
                // A user without a passcode has chosen to have no prompts for consent.
            }
        }
        try services.databases.restore(caller.user, copyOf: date)
        services.logger.notice("restored the last verified copy of a database", metadata: ["user": "\(caller.user)"])
        try sink.send(.done)
    }
}
