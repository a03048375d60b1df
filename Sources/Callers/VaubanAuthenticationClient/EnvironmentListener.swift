internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
package import VaubanLinuxHost

/// A thread that waits for changes of the available authentication methods (Specs/environment.md).
package final class EnvironmentListener: Sendable {
    private struct State {
        var channel: Channel?
        var isEnded = false
    }

    /// The pauses between attempts to reach the service, in milliseconds.
    private static let pauses: (shortest: Int32, longest: Int32) = (20, 5_000)
    private let service: @Sendable () -> Service?
    private let onChange: @Sendable (Bool) -> Bool
    private let ended: Wakeup
    private let state = Mutex(State())

    /// Creates a listener that calls `onChange` on its own thread: with true if something may have changed, with false if the service
    /// cannot be reached. `onChange` returns whether it read the current state. `service` is evaluated at each attempt, since a service may
    /// be set up later.
    package init(service: @escaping @Sendable () -> Service?, onChange: @escaping @Sendable (Bool) -> Bool) throws(SystemError) {
        self.service = service
        self.onChange = onChange
        ended = try Wakeup()
    }

    /// Starts the thread. Throws if the system cannot create one.
    package func start() throws(SystemError) { try HostThread.start { [self] in run() } }

    /// Stops the listener. No call of `onChange` starts after this.
    package func end() {
        let channel = state.withLock { state in
            state.isEnded = true
            return state.channel
        }
        channel?.shutDown()
        ended.signal()
    }

    private func run() {
        var backoff = Backoff(from: Self.pauses.shortest, to: Self.pauses.longest)
        while !state.withLock({ $0.isEnded }) {
            let began = MachineClock.monotonic
            if let channel = connected() { listen(on: channel) } else { _ = notify(false) }
            let pause = backoff.pause(afterConnectionLasting: MachineClock.monotonic - began)
            _ = ended.wait(until: MachineClock.monotonic + UInt64(pause) * 1_000_000)
        }
    }

    /// Returns a new connection; nil if there is none. Unlike a call, the listener does not start a stopped service.
    private func connected() -> Channel? {
        let address = service()?.authenticationAddress
        let role = AuthenticationRole.watcher.rawValue
        guard let channel = try? address?.connect(role: role, within: ConnectionLimits.replyTime) else { return nil }
        return state.withLock { state in
            guard !state.isEnded else { return nil }
            state.channel = channel
            return channel
        }
    }

    private func listen(on channel: Channel) {
        defer {
            state.withLock { $0.channel = nil }
            channel.shutDown()
        }
        // Read the state after each idle timeout too: this repeats a read that failed, and replaces notices if there are too many
        // listeners.
        while let message = try? channel.receive(.idle), let notice = try? EnvironmentNotice(derBytes: message.header) {
            guard notify(true), notice == .changed else { return }
        }
    }

    private func notify(_ isReachable: Bool) -> Bool { state.withLock { $0.isEnded } || onChange(isReachable) }
}
