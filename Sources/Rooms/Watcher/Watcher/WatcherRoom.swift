// The process that tells the enclave what happens to the machine: that it goes to sleep, that a screen is locked. It holds
// nothing and can bring about nothing but a lock.

internal import EnclaveWire
import Foundation
import Glibc
package import Logging
package import VaubanLinuxHost

/// Whom the watcher watches. All of it is fixed in the shipped program; no variable of the environment counts.
package struct WatcherSettings: Sendable {
    /// Where the system's bus is, as D-Bus writes addresses.
    package let bus: String
    /// The user as whom the login manager runs; another owner of its name is not believed.
    package let managerUID: UInt32
    /// The only user whose screen is told of; nil for everybody's.
    package let onlyUser: UInt32?

    package init(bus: String = "unix:path=/run/dbus/system_bus_socket", managerUID: UInt32 = 0, onlyUser: UInt32?) {
        self.bus = bus
        self.managerUID = managerUID
        self.onlyUser = onlyUser
    }
}

package struct WatcherRoom: Sendable {
    private let settings: WatcherSettings
    private let line: DeviceConnection
    private let log: Logger

    package init(enclave: ServerAddress, _ settings: WatcherSettings, log: Logger) throws(SystemError) {
        self.settings = settings
        self.log = log
        line = try DeviceConnection(enclave: enclave, log: log)
    }

    /// Watches until the process ends, over a new connection whenever the bus is lost. Where there is none it says so to the
    /// enclave and looks again, ever more rarely.
    package func run() -> Never {
        Thread.detachNewThread { [line] in line.run() }
        var backoff = Backoff(from: WatcherLimits.busPauseMin, to: WatcherLimits.busPauseMax)
        var lastFault: String?
        while true {
            let opened = MachineClock.monotonic
            do throws(SystemError) {
                var watch = try LoginWatch(settings, line: line, log: log)
                lastFault = nil
                try watch.run()
            } catch {
                // Each fault is said once, not at every look.
                if lastFault != error.description { log.notice("the bus cannot be watched", metadata: ["why": "\(error)"]) }
                lastFault = error.description
            }
            line.tell(.blind)
            // A bus that is not there says nothing when it comes, so there is nothing to wait for but time.
            poll(nil, 0, backoff.pause(afterLiving: MachineClock.monotonic - opened))
        }
    }
}
