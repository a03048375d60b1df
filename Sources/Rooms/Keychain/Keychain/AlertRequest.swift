// The request for the number of alerts (Specs/canaries.md), which may wait for one. It names no item, so any program of the user may send
// it.

internal import KeychainStore
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanRefusal

struct AlertRequest {
    let services: KeychainServices
    let caller: Caller
    let sink: any ReplySink

    /// Sends the alerts so far; with a number, once there are more than these, or after some minutes.
    func serve(after number: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        guard let number else { return try finish(current()) }
        let queue = services.accessLogs.alerts
        let wakeup = try queue.addWaiter(of: caller.user)
        defer { queue.removeWaiter(wakeup, of: caller.user) }
        let deadline = MachineClock.monotonic + KeychainLimits.alertTime
        while true {
            let alerts = try current()
            guard alerts.total <= number else { return try finish(alerts) }
            switch wakeup.wait(until: deadline, connection: sink.connection) {
            case .signalled: continue
            case .deadline: return try finish(alerts)
            case .hungUp, .processEnded: throw CallerHungUp()
            }
        }
    }

    private func finish(_ alerts: CanaryAlerts) throws { try sink.finish(.canaryAlerts(alerts), value: nil) }

    /// Returns the alerts, with those that are not written yet.
    private func current() throws -> CanaryAlerts {
        let log = services.accessLogs.log(of: caller.user)
        let database = try services.databases.database(of: caller.user)
        // What cannot be written counts all the same.
        if log.pendingAlerts > 0 { try? log.flush(to: database) }
        let stored = try database.canaryAlerts()
        return CanaryAlerts(total: stored.total + log.pendingAlerts, seen: stored.seen, from: stored.from)
    }
}
