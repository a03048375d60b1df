// The user's answers that hold for further signatures over one connection (Specs/authorizations.md, "Answers that hold").

internal import Crypto
package import VaubanAccessPolicy
package import VaubanKeyWire
package import VaubanLinuxHost

/// What an answer covers: signatures with one key, of messages for one purpose, at the request of one program in one session.
package struct HeldAnswerScope: Sendable {
    let key: EnclaveKey
    let namespace: [UInt8]
    let program: ApplicationIdentifier
    let session: Int32
    /// The process that leads the session. While it runs, the session's number is not reused.
    let leader: Descriptor

    package init(key: EnclaveKey, namespace: String, program: ApplicationIdentifier, session: Int32, leader: Descriptor) {
        self.key = key
        self.namespace = Array(namespace.utf8)
        self.program = program
        self.session = session
        self.leader = leader
    }

    /// Returns whether this answer covers a signature of another scope.
    func covers(_ other: HeldAnswerScope) -> Bool {
        key == other.key && namespace == other.namespace && program == other.program && session == other.session
            && ProcessDescriptor.isAlive(leader)
    }
}

/// The answers that hold on one connection, each with its evidence until its end.
package struct HeldAnswers<Evidence: Sendable>: Sendable {
    private struct Entry: Sendable {
        let scope: HeldAnswerScope
        let evidence: Evidence
        /// When the answer ends, in nanoseconds of the clock that includes sleep.
        let end: UInt64
    }

    private var entries: [Entry] = []

    package init() {}

    /// The number of answers.
    package var count: Int { entries.count }

    /// When the next answer ends; nil if there is none.
    ///
    /// Uses a closure instead of a key path: in a generic type, Swift creates a key path at each call, and every signature reads this.
    package var nextEnd: UInt64? { entries.min { $0.end < $1.end }?.end }

    /// Keeps an answer in place of an earlier one of the same scope; beyond the limit, in place of the oldest.
    package mutating func keep(_ evidence: Evidence, for scope: HeldAnswerScope, until end: UInt64) {
        entries.removeAll { $0.scope.covers(scope) }
        if entries.count >= EnclaveLimits.heldAnswersMax { entries.removeFirst() }
        entries.append(Entry(scope: scope, evidence: evidence, end: end))
    }

    /// Returns the evidence of the answer that covers a signature now; nil if there is none, in which case the user is prompted.
    package mutating func evidence(for scope: HeldAnswerScope, at now: UInt64) -> Evidence? {
        removeEnded(at: now)
        return entries.last { $0.scope.covers(scope) }?.evidence
    }

    /// Removes the answers whose time has passed or whose session has ended.
    package mutating func removeEnded(at now: UInt64) {
        entries.removeAll { $0.end <= now || !ProcessDescriptor.isAlive($0.scope.leader) }
    }

    package mutating func removeAll() { entries = [] }
}

extension AnswerHold {
    /// Whether this message is the one whose digest is to be signed.
    package func isSigned(by digest: [UInt8]) -> Bool { SHA256.hash(data: message).elementsEqual(digest) }
}
