// The evidence that authorizes contexts, under random handles (Specs/authorizations.md).

import Enclave
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// The authorizations of all contexts. A handle is valid only for its user and for the process that received it, as long as the connection
/// on which it was issued lasts. A child of that process is another process.
final class Authorizations: Sendable {
    private struct Entry {
        let user: UInt32
        /// The process that received the handle, identified by its descriptor: while it runs, its pid is not reused.
        let process: Peer
        let connection: ObjectIdentifier
        let evidence: AuthorizedEvidence
    }

    private let entries = ThreadMutex<[[UInt8]: Entry]>([:])

    /// Adds an authorization and returns its handle. Also removes those of processes that have ended, which are void already.
    func add(_ evidence: AuthorizedEvidence, for caller: Peer, on connection: RequestConnection) throws(Refusal) -> [UInt8] {
        let handle: [UInt8]
        do throws(SystemError) { handle = try Entropy.bytes(EvaluationResult.handleBytes) } catch {
            throw Refusal(.internalError, "a handle cannot be made")
        }
        return try entries.withLock { (entries) throws(Refusal) -> [UInt8] in
            let ended = entries.filter { !$0.value.process.isAlive }.map(\.key)
            for handle in ended { entries[handle] = nil }
            guard entries.values.count(where: { $0.user == caller.uid }) < EnclaveLimits.authorizationsPerUserMax else {
                throw Refusal(.unavailable, "Too many contexts are authorized; invalidate some")
            }
            entries[handle] = Entry(user: caller.uid, process: caller, connection: ObjectIdentifier(connection), evidence: evidence)
            return handle
        }
    }

    /// Returns the evidence behind a handle for this caller; nil if the handle is void, in which case the user is prompted.
    func evidence(_ handle: [UInt8]?, for caller: Peer, in vault: Vault) -> OperationEvidence? {
        guard let handle, let entry = entries.withLock({ $0[handle] }), entry.user == caller.uid, entry.process.pid == caller.pid,
            entry.process.isAlive
        else { return nil }
        return vault.evidence(of: entry.evidence)
    }

    func end(of connection: RequestConnection) { end { $0.connection == ObjectIdentifier(connection) } }
    func end(of user: UInt32) { end { $0.user == user } }

    private func end(_ isMeant: (Entry) -> Bool) {
        entries.withLock { entries in
            let meant = entries.filter { isMeant($0.value) }.map(\.key)
            for handle in meant { entries[handle] = nil }
        }
    }
}
