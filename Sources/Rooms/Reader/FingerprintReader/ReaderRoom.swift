// The process that connects the fingerprint reader to the enclave and uses the sensor through fprintd.

import Glibc
package import Logging
package import VaubanLinuxHost

/// The services that the reader uses. The shipped program fixes all of them; it ignores environment variables.
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
    private let enclave: EnclaveConnection
    private let queue: SensorRequestQueue
    private let store: ReaderState
    private let log: Logger
    private let names: UserNames

    package init(enclave: ServerAddress, state: PrivateFolder, _ settings: ReaderSettings, log: Logger) throws {
        self.settings = settings
        self.log = log
        names = UserNames()
        queue = try SensorRequestQueue()
        store = try ReaderState(in: state)
        self.enclave = try EnclaveConnection(address: enclave, store: store, queue: queue, log: log)
    }

    /// Serves until the process ends, over a new connection whenever the bus is lost. Without a bus there is no sensor, and the pauses
    /// between attempts grow.
    package func run() -> Never {
        HostThread.startForLife { [enclave] in enclave.run() }
        var backoff = Backoff(from: ReaderLimits.busPauseMin, to: ReaderLimits.busPauseMax)
        var lastFault: String?
        while true {
            let opened = MachineClock.monotonic
            do throws(SystemError) {
                var watch = try SensorBusConnection(settings, enclave: enclave, queue: queue, store: store, names: names, log: log)
                lastFault = nil
                try watch.run()
            } catch {
                // Logs each failure once, not at every attempt.
                if lastFault != error.description { log.notice("cannot reach fprintd", metadata: ["why": "\(error)"]) }
                lastFault = error.description
            }
            enclave.reportSensor(isThere: false)
            // No event announces that the bus is available again, so wait before the next attempt.
            poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - opened))
        }
    }
}
