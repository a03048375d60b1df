// How users learn of the use of canary items, besides the access log (Specs/canaries.md): the journal, and the prompt agents that wait.

internal import Logging
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanRoomLog

final class CanaryAlertQueue: Sendable {
    private struct Alert {
        let user: UInt32
        let use: AccessUse
    }

    /// Apart from what programs cause otherwise: lines about that must not use up the room for these.
    private let journal: BoundedLog
    private let waiting = ThreadMutex<(alerts: [Alert], leftOut: Int)>(([], 0))
    private let waiters = ThreadMutex<[UInt32: [ObjectIdentifier: Wakeup]]>([:])
    /// The canaries that were seen while they were open.
    private let known = ThreadMutex<[UInt32: Set<[UInt8]>]>([:])

    init(logger: Logger) { journal = BoundedLog(logger) }

    // MARK: Which items are canaries

    /// Remembers a canary by its identity, under which a locked row can be known.
    func remember(_ item: [UInt8], of user: UInt32) {
        known.withLock { known in
            guard known[user].map({ $0.count < KeychainLimits.canariesKnownMax }) ?? (known.count < KeychainLimits.logsMax) else { return }
            known[user, default: []].insert(item)
        }
    }

    func forget(_ item: [UInt8], of user: UInt32) { known.withLock { _ = $0[user]?.remove(item) } }

    func knows(_ item: [UInt8], of user: UInt32) -> Bool { known.withLock { $0[user]?.contains(item) ?? false } }

    // MARK: Alerts

    func add(_ use: AccessUse, of user: UInt32) {
        waiting.withLock { waiting in
            guard waiting.alerts.count < KeychainLimits.alertsWaitingMax else { return waiting.leftOut += 1 }
            waiting.alerts.append(Alert(user: user, use: use))
        }
    }

    /// Writes what was added into the journal, without the names of items.
    func report() {
        let (alerts, leftOut) = waiting.withLock { waiting in
            defer { waiting = ([], 0) }
            return waiting
        }
        for (index, alert) in alerts.enumerated() {
            var line: Logger.Metadata = ["action": "\(alert.use.action)", "outcome": "\(alert.use.outcome)"]
            if let program = alert.use.caller.program { line["program"] = "\(PlainLine.path(program.path, charactersMax: 200))" }
            if index == alerts.count - 1, leftOut > 0 { line["further"] = "\(leftOut)" }
            journal.warning("a canary item was used", about: alert.user, line)
        }
    }

    // MARK: Who waits

    func addWaiter(of user: UInt32) throws -> Wakeup {
        let wakeup = try Wakeup()
        try waiters.withLock { waiters in
            guard waiters[user, default: [:]].count < KeychainLimits.alertWaitersMax else {
                throw Refusal(.unavailable, "too many programs wait for alerts already")
            }
            waiters[user, default: [:]][ObjectIdentifier(wakeup)] = wakeup
        }
        return wakeup
    }

    func removeWaiter(_ wakeup: Wakeup, of user: UInt32) {
        waiters.withLock { waiters in
            waiters[user]?[ObjectIdentifier(wakeup)] = nil
            if waiters[user]?.isEmpty == true { waiters[user] = nil }
        }
    }

    func wakeWaiters(of user: UInt32) { waiters.withLock { for wakeup in $0[user, default: [:]].values { wakeup.signal() } } }
}
