// What contexts were authorised by, under random handles (Specs/authorisations.md).

import Enclave
import VaubanAccessPolicy
import VaubanLinuxHost

/// A handle alone is worth nothing: it counts from the process that got it, for its person, while the line lives on which it
/// got it. A child of that process is another process.
final class Authorisations: Sendable {
    private struct Entry {
        let person: UInt32
        /// Held by its descriptor: while that process lives nobody else has its number.
        let process: Peer
        let line: ObjectIdentifier
        let evidence: AuthorisedEvidence
    }

    private let entries = ThreadMutex<[[UInt8]: Entry]>([:])

    /// A new handle. Processes that have ended are forgotten here, though their handles count no more in any case.
    func add(_ evidence: AuthorisedEvidence, for caller: Peer, on line: RequestLine) throws(Refusal) -> [UInt8] {
        let handle: [UInt8]
        do throws(SystemFault) { handle = try Entropy.bytes(EvaluationResult.handleBytes) } catch {
            throw Refusal(.internalFault, "a handle cannot be made")
        }
        return try entries.withLock { (entries) throws(Refusal) -> [UInt8] in
            let ended = entries.filter { !$0.value.process.isAlive }.map(\.key)
            for handle in ended { entries[handle] = nil }
            guard entries.values.count(where: { $0.person == caller.uid }) < EnclaveLimits.authorisationsPerPersonMax else {
                throw Refusal(.unavailable, "too many contexts are authorised; invalidate some")
            }
            entries[handle] = Entry(person: caller.uid, process: caller, line: ObjectIdentifier(line), evidence: evidence)
            return handle
        }
    }

    /// What a handle stands for, to this caller; nil where it stands for nothing, and then the person is asked.
    func evidence(_ handle: [UInt8]?, for caller: Peer, in vault: Vault) -> GatheredEvidence? {
        guard let handle, let entry = entries.withLock({ $0[handle] }), entry.person == caller.uid, entry.process.pid == caller.pid,
            entry.process.isAlive
        else { return nil }
        return vault.evidence(of: entry.evidence)
    }

    func end(of line: RequestLine) { end { $0.line == ObjectIdentifier(line) } }
    func end(of person: UInt32) { end { $0.person == person } }

    private func end(_ isMeant: (Entry) -> Bool) {
        entries.withLock { entries in
            let meant = entries.filter { isMeant($0.value) }.map(\.key)
            for handle in meant { entries[handle] = nil }
        }
    }
}
