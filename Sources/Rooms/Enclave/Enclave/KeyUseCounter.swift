// Counts what applications do with private keys, for the access log (Specs/access-log.md). A use only increments a counter, so that no
// signature waits for the log.

internal import Crypto
package import EnclaveWire
internal import VaubanDER
package import VaubanKeyWire
internal import VaubanLinuxHost
package import VaubanRefusal

/// The uses of one key on one connection since they were last reported.
package final class KeyUseCounter: Sendable {
    private static let outcomes = KeyUseOutcome.allCases.count

    private struct Counts {
        var numbers = [Int64](repeating: 0, count: KeyUseAction.allCases.count * outcomes)
        var isListed = false
    }

    let user: UInt32
    let identity: CallerIdentity?
    /// Nil for keys beyond those that a connection distinguishes.
    private let key: EnclaveKey?
    private let ledger: KeyUseLedger
    private let counts = ThreadMutex(Counts())

    fileprivate init(user: UInt32, identity: CallerIdentity?, key: EnclaveKey?, ledger: KeyUseLedger) {
        self.user = user
        self.identity = identity
        self.key = key
        self.ledger = ledger
    }

    package func add(_ operation: KeyOperation, _ outcome: KeyUseOutcome) {
        let action = operation == .sign ? KeyUseAction.signed : .decrypted
        let isFirst = counts.withLock { counts in
            counts.numbers[Self.index(action, outcome)] += 1
            defer { counts.isListed = true }
            return !counts.isListed
        }
        if isFirst { ledger.list(self) }
    }

    /// Returns the uses since the last call, and resets the counts.
    fileprivate func take() -> [CountedKeyUse] {
        let numbers = counts.withLock { counts in
            defer { counts = Counts() }
            return counts.numbers
        }
        let known = key.flatMap(UsedKey.init)
        return KeyUseAction.allCases.flatMap { action in
            KeyUseOutcome.allCases.compactMap { outcome in
                let count = numbers[Self.index(action, outcome)]
                return count > 0 ? CountedKeyUse(key: known, action: action, outcome: outcome, count: count) : nil
            }
        }
    }

    private static func index(_ action: KeyUseAction, _ outcome: KeyUseOutcome) -> Int {
        Int(action.rawValue - 1) * outcomes + Int(outcome.rawValue - 1)
    }
}

/// The counters with uses to report, and the uses that could not be reported yet.
package final class KeyUseLedger: Sendable {
    private struct State {
        var listed: [KeyUseCounter] = []
        var owed = KeyUseTally()
    }

    private let state = ThreadMutex(State())
    private let onUse: @Sendable () -> Void

    /// Creates an empty ledger, which calls `onUse` after the first use since the last `take`.
    package init(onUse: @escaping @Sendable () -> Void) { self.onUse = onUse }

    /// Returns a counter for a key or, if `key` is nil, for all further keys.
    package func counter(of key: EnclaveKey?, by user: UInt32, _ identity: CallerIdentity?) -> KeyUseCounter {
        KeyUseCounter(user: user, identity: identity, key: key, ledger: self)
    }

    fileprivate func list(_ counter: KeyUseCounter) {
        let isFirst = state.withLock { state in
            defer { state.listed.append(counter) }
            return state.listed.isEmpty
        }
        if isFirst { onUse() }
    }

    /// Removes all uses and returns them as notices. `isTrusted` returns whether a user trusts the team that signed a program.
    package func take(isTrusted: (UInt32, CodeSigner) -> Bool) -> [KeyUseNotice] {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        var owed = taken.owed
        for counter in taken.listed {
            let teamIsTrusted = counter.identity?.signer.map { isTrusted(counter.user, $0) } ?? false
            owed.add(
                KeyUseNotice(user: counter.user, identity: counter.identity, teamIsTrusted: teamIsTrusted, uses: counter.take()))
        }
        return owed.take()
    }

    /// Puts back the uses of a notice that could not be sent.
    package func putBack(_ notice: KeyUseNotice) { state.withLock { $0.owed.add(notice) } }
}

extension UsedKey {
    /// Creates the identification of a key for a notice; nil if the key cannot be encoded.
    fileprivate init?(_ key: EnclaveKey) {
        guard let bytes = try? key.encoded() else { return nil }
        self.init(digest: Array(SHA256.hash(data: bytes)), label: Array(Insecure.SHA1.hash(data: key.publicKey)))
    }
}

extension KeyUseOutcome {
    /// The outcome that the log records for a refusal; nil for one that is no decision about the caller.
    package init?(of refusal: Refusal) {
        guard refusal.blame == .user else { return nil }
        switch refusal.reason {
        case .cancelled, .authenticationFailed, .fallbackChosen, .userTimedOut: self = .notApproved
        default: self = .refused
        }
    }
}
