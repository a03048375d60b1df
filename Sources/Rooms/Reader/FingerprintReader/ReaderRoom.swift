// The process that connects the fingerprint reader to the enclave and asks fprintd what the sensor finds.

import Foundation
import Glibc
package import Logging
package import VaubanLinuxHost

/// The services that the reader uses. All of it is fixed in the shipped program; no environment variable counts.
package struct ReaderSettings: Sendable {
    /// The address of the system's bus, in D-Bus syntax.
    package let bus: String
    /// The user as whom fprintd and the login manager run. Another owner of their names is not trusted.
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

    /// Serves until the process ends, over a new connection whenever the bus is lost. Without a bus there is no sensor, and the pauses
    /// between attempts grow.
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
                // Logs each failure once, not at every attempt.
                if lastFault != error.description { log.notice("cannot reach fprintd", metadata: ["why": "\(error)"]) }
                lastFault = error.description
            }
            line.tellSensor(isThere: false)
            // A missing bus does not announce itself, so time is all there is to wait for.
            poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - opened))
        }
    }
}
