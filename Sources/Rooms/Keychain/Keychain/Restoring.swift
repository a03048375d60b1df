// Putting the last verified copy in the place of a damaged database: only where it is damaged, only at the user's word, and
// only the copy whose date they were told, since what was removed after that date comes back with it.

internal import EnclaveWire
internal import KeychainStore
internal import Logging
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanUserModel

struct Restoring {
    let parts: KeychainServices
    let caller: Caller
    let enclave: any EnclaveConnectionThread
    let sink: any ReplySink

    /// Without a date it tells what there is; with it, that copy is put back.
    func serve(_ date: Int64?) throws {
        if caller.entitlements?.deniesKeychain == true {
            throw Refusal(.missingEntitlement, "the administrator denies this program the keychain")
        }
        guard caller.isOwnHand else { throw Refusal(.notAllowedHere, "the keychain is put back with the program vauban") }
        let (copy, since) = try parts.databases.restorable(of: caller.user)
        guard let date else {
            try sink.send(.restorable(RestorableCopy(date: copy.date, rows: copy.rows, damagedSince: since)))
            return try sink.send(.done)
        }
        // In user mode any program of the user could do the same with the file itself.
        if caller.identity != nil {
            do {
                _ = try enclave.consent(Consent(.restore, offered: .once, item: "\(copy.rows) items of an earlier date"), reason: nil)
            } catch let refusal as Refusal where refusal.reason == .passcodeNotSet {
                // Whoever sets none has chosen that nothing takes their yes.
            }
        }
        try parts.databases.restore(caller.user, copyOf: date)
        parts.logger.notice("put the last verified copy of a database in its place", metadata: ["user": "\(caller.user)"])
        try sink.send(.done)
    }
}
