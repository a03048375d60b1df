// Requests about the keychain as a whole: its keys, its damage, and the copy of its database.

package import VaubanKeychainWire
package import VaubanRefusal

extension KeychainClient {
    /// Moves a batch of rows to the current keys of their classes; call again while some are left.
    package func rewrap(waiting: Waiting? = nil) throws(Refusal) -> RewrapProgress {
        guard case .rewrapped(let progress)? = try call(.rewrap, secret: nil, waiting: waiting).reply else {
            throw Refusal(.internalError, "the keychain reported no progress")
        }
        return progress
    }

    /// Removes items that no key can open.
    package func discard(waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.discard, secret: nil, waiting: waiting)
    }

    /// Examines every row and the database file. Calls `progress` as it proceeds. A large file takes long, so the user's timeout applies.
    package func examine(progress: @escaping (DoctorReport) -> Void = { _ in }) throws(Refusal) -> DoctorReport {
        guard case .examined(let report)? = try call(.examine, secret: nil, waiting: nil, progress: progress).reply else {
            throw Refusal(.internalError, "the keychain reported no findings")
        }
        return report
    }

    /// Returns the verified copy that can replace a damaged database; throws if the database is intact or there is no copy.
    package func restorableCopy() throws(Refusal) -> RestorableCopy {
        guard case .restorable(let copy)? = try call(.restore(copyOf: nil), secret: nil, waiting: nil, progress: { _ in }).reply else {
            throw Refusal(.internalError, "the keychain did not describe its copy")
        }
        return copy
    }

    /// Replaces the database with that copy.
    package func restore(_ copy: RestorableCopy, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.restore(copyOf: copy.date), secret: nil, waiting: waiting, progress: { _ in })
    }
}
