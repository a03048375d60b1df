// The process that reports to the enclave when the machine goes to sleep or a screen is locked. It holds no secrets, and can cause nothing
// but a lock.

internal import EnclaveWire
import Glibc
package import Logging
package import VaubanLinuxHost

/// The services that the watcher uses. The shipped program fixes all of them; it ignores environment variables.
package struct WatcherSettings: Sendable {
    /// The address of the system's bus, in D-Bus syntax.
    package let bus: String
    /// The user as whom the login manager runs. Another owner of its name is not trusted.
    package let managerUID: UInt32
    /// The only user whose screen is reported; nil for all users.
    package let onlyUser: UInt32?

    package init(bus: String = "unix:path=/run/dbus/system_bus_socket", managerUID: UInt32 = 0, onlyUser: UInt32?) {
        self.bus = bus
        self.managerUID = managerUID
        self.onlyUser = onlyUser
    }
}

package struct WatcherRoom: Sendable {
    private let settings: WatcherSettings
    private let connection: DeviceConnection
    private let log: Logger

    package init(enclave: ServerAddress, _ settings: WatcherSettings, log: Logger) throws(SystemError) {
        self.settings = settings
        self.log = log
        connection = try DeviceConnection(enclave: enclave, log: log)
    }

    /// Watches until the process ends, over a new connection whenever the bus is lost. Without a bus it reports that to the enclave, and
    /// the pauses between attempts grow.
    package func run() -> Never {
        HostThread.startForLife { [connection] in connection.run() }
        var backoff = Backoff(from: WatcherLimits.busPauseMin, to: WatcherLimits.busPauseMax)
        var lastFault: String?
        while true {
            let opened = MachineClock.monotonic
            do throws(SystemError) {
                var watch = try LoginBusConnection(settings, connection: connection, log: log)
                lastFault = nil
                try watch.run()
            } catch {
                // Logs each failure once, not at every attempt.
                if lastFault != error.description { log.notice("cannot watch the bus", metadata: ["why": "\(error)"]) }
                lastFault = error.description
            }
            connection.report(.blind)
            // No event announces that the bus is available again, so wait before the next attempt.
            poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - opened))
        }
    }
}
