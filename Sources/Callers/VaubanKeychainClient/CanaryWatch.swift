// Tells of the use of canary items as it happens, for prompt agents (Specs/canaries.md).

internal import Glibc
package import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRefusal

package enum CanaryWatch {
    /// The pause before the service is asked again, after it did not answer and after each alert, in milliseconds.
    private static let pauseMilliseconds: Int32 = 2000

    /// Calls `tell` on a thread of its own, for as long as the process runs: at once if there are uses that the user has not seen, and
    /// after each further one. Starts no service.
    package static func start(_ tell: @escaping @Sendable (CanaryAlerts) -> Void) throws(SystemError) {
        try HostThread.start {
            var told: Int64?
            while true {
                if let alerts = next(after: told) {
                    if alerts.unseen > 0, alerts.total > told ?? 0 { tell(alerts) }
                    // After an erasure the count begins again.
                    if alerts.total == told { continue }
                    told = alerts.total
                }
                poll(nil, 0, pauseMilliseconds)
            }
        }
    }

    private static func next(after number: Int64?) -> CanaryAlerts? {
        guard let service = try? Service.current() else { return nil }
        return try? KeychainClient(service: service, startsService: false).canaryAlerts(after: number)
    }
}
