// What contexts were authorized by, under random handles (Specs/authorizations.md).

import Enclave
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// A handle alone is worth nothing: it counts from the process that got it, for its user, while the line lives on which it
/// got it. A child of that process is another process.
final class Authorizations: Sendable {
    private struct Entry {
        let user: UInt32
        /// Held by its descriptor: while that process lives nobody else has its number.
        let process: Peer
        let line: ObjectIdentifier
        let evidence: AuthorizedEvidence
    }

    private let entries = ThreadMutex<[[UInt8]: Entry]>([:])

    /// A new handle. Processes that have ended are forgotten here, though their handles count no more in any case.
    func add(_ evidence: AuthorizedEvidence, for caller: Peer, on line: RequestConnection) throws(Refusal) -> [UInt8] {
        let handle: [UInt8]
        do throws(SystemError) { handle = try Entropy.bytes(EvaluationResult.handleBytes) } catch {
            throw Refusal(.internalFault, "a handle cannot be made")
        }
        return try entries.withLock { (entries) throws(Refusal) -> [UInt8] in
            let ended = entries.filter { !$0.value.process.isAlive }.map(\.key)
            for handle in ended { entries[handle] = nil }
            guard entries.values.count(where: { $0.user == caller.uid }) < EnclaveLimits.authorizationsPerUserMax else {
                throw Refusal(.unavailable, "too many contexts are authorized; invalidate some")
            }
            entries[handle] = Entry(user: caller.uid, process: caller, line: ObjectIdentifier(line), evidence: evidence)
            return handle
        }
    }

    /// What a handle stands for, to this caller; nil where it stands for nothing, and then the user is asked.
    func evidence(_ handle: [UInt8]?, for caller: Peer, in vault: Vault) -> OperationEvidence? {
        guard let handle, let entry = entries.withLock({ $0[handle] }), entry.user == caller.uid, entry.process.pid == caller.pid,
            entry.process.isAlive
        else { return nil }
        return vault.evidence(of: entry.evidence)
    }

    func end(of line: RequestConnection) { end { $0.line == ObjectIdentifier(line) } }
    func end(of user: UInt32) { end { $0.user == user } }

    private func end(_ isMeant: (Entry) -> Bool) {
        entries.withLock { entries in
            let meant = entries.filter { isMeant($0.value) }.map(\.key)
            for handle in meant { entries[handle] = nil }
        }
    }
}
