// The request for the number of alerts (Specs/canaries.md), which may wait for one. It names no item, so any program of the user may send
// it.

internal import KeychainStore
internal import VaubanKeychainWire

struct AlertRequest {
    let services: KeychainServices
    let caller: Caller
    let sink: any ReplySink

    /// Sends how many alerts there are, and how many the user has seen. With a number, waits for more, but no longer than some minutes.
    func serve(after number: Int64?) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        guard let number else { return try finish(current()) }
        func newAlerts() throws -> CanaryAlerts? {
            let alerts = try current()
            return alerts.total > number ? alerts : nil
        }
        try finish(
            services.accessLogs.alertWaiters.wait(
                of: caller.user, for: KeychainLimits.waitTime, connection: sink.connection, until: newAlerts, atDeadline: current))
    }

    private func finish(_ alerts: CanaryAlerts) throws { try sink.finish(.canaryAlerts(alerts), value: nil) }

    /// Returns the number of alerts, including those that are not written yet.
    private func current() throws -> CanaryAlerts {
        let log = services.accessLogs.log(of: caller.user)
        let database = try services.databases.database(of: caller.user)
        // Alerts that cannot be written count all the same.
        if log.pendingAlerts > 0 {
            try? log.flush(to: database)
            if log.holdsUses { services.accessLogs.schedule(caller.user) }
        }
        let stored = try database.canaryAlerts()
        return CanaryAlerts(total: stored.total + log.pendingAlerts, seen: stored.seen, from: stored.from)
    }
}
