// Reports uses of canary items as they happen, for prompt agents (Specs/canaries.md).

internal import Glibc
package import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRefusal

package enum CanaryMonitor {
    /// Calls `tell` on a separate thread for as long as the process runs: at once if there are uses that the user has not seen, and again
    /// after each further use. Starts no service.
    package static func start(_ notify: @escaping @Sendable (CanaryAlerts) -> Void) throws(SystemError) {
        try HostThread.start {
            var notified: Int64?
            var backoff = Backoff(from: 100, to: 10_000)
            while true {
                let began = MachineClock.monotonic
                if let alerts = next(after: notified) {
                    if alerts.unseen > 0, alerts.total > notified ?? 0 { notify(alerts) }
                    // After an erasure the count begins again.
                    if alerts.total == notified { continue }
                    notified = alerts.total
                }
                // Back off after each alert too, so that a canary that is read continuously is reported rarely.
                poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - began))
            }
        }
    }

    private static func next(after number: Int64?) -> CanaryAlerts? {
        guard let service = try? Service.current() else { return nil }
        return try? KeychainClient(service: service, startsService: false).canaryAlerts(after: number)
    }
}
