// The process that holds the fingerprint reader's line to the enclave, and asks fprintd what the sensor finds.

import Foundation
import Glibc
package import Logging
package import VaubanLinuxHost

/// Whom the reader asks. All of it is fixed in the shipped program; no variable of the environment counts.
package struct ReaderSettings: Sendable {
    /// Where the system's bus is, as D-Bus writes addresses.
    package let bus: String
    /// The user as whom fprintd and the login manager run; another owner of their names is not believed.
    package let daemonUID: UInt32

    package init(bus: String = "unix:path=/run/dbus/system_bus_socket", daemonUID: UInt32 = 0) {
        self.bus = bus
        self.daemonUID = daemonUID
    }
}

package struct ReaderRoom: Sendable {
    private let settings: ReaderSettings
    private let line: EnclaveConnectionThread
    private let desk: QuestionQueue
    private let kept: ReaderState
    private let log: Logger
    private let names: UserNames

    package init(enclave: ServerAddress, state: PrivateFolder, _ settings: ReaderSettings, log: Logger) throws {
        self.settings = settings
        self.log = log
        names = UserNames()
        desk = try QuestionQueue()
        kept = try ReaderState(in: state)
        line = try EnclaveConnectionThread(enclave: enclave, kept: kept, desk: desk, log: log)
    }

    /// Serves until the process ends, over a new connection whenever the bus is lost. Where there is none there is no sensor, and
    /// it looks again, ever more rarely.
    package func run() -> Never {
        Thread.detachNewThread { [line] in line.run() }
        var backoff = Backoff(from: ReaderLimits.busPauseMin, to: ReaderLimits.busPauseMax)
        var lastFault: String?
        while true {
            let opened = MachineClock.monotonic
            do throws(SystemError) {
                var watch = try SensorWatch(settings, line: line, desk: desk, kept: kept, names: names, log: log)
                lastFault = nil
                try watch.run()
            } catch {
                // Each fault is said once, not at every look.
                if lastFault != error.description { log.notice("fprintd cannot be asked", metadata: ["why": "\(error)"]) }
                lastFault = error.description
            }
            line.tellSensor(isThere: false)
            // A bus that is not there says nothing when it comes, so there is nothing to wait for but time.
            poll(nil, 0, backoff.pause(afterLiving: MachineClock.monotonic - opened))
        }
    }
}
