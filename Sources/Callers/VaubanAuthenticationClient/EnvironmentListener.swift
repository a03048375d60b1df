import Foundation
internal import Synchronization
internal import VaubanAuthenticationWire
internal import VaubanDER
package import VaubanLinuxHost

/// A thread that hears when it is worth looking again at what the user can show (Specs/environment.md).
package final class EnvironmentListener: Sendable {
    private struct State {
        var channel: Channel?
        var isEnded = false
    }

    /// Milliseconds between two tries to reach the service.
    private static let pauses: (shortest: Int32, longest: Int32) = (20, 5_000)
    private let service: @Sendable () -> Service?
    private let look: @Sendable (Bool) -> Bool
    private let ended: Wakeup
    private let state = Mutex(State())

    /// `look` is called on the watch's thread: with true where there may be something new to see, with false where the service cannot be
    /// reached; it answers whether it saw what there is. `service` is asked at each try, since a service may be set up later.
    package init(service: @escaping @Sendable () -> Service?, look: @escaping @Sendable (Bool) -> Bool) throws(SystemError) {
        self.service = service
        self.look = look
        ended = try Wakeup()
    }

    package func start() {
        let thread = Thread { [self] in run() }
        thread.stackSize = 1 << 19
        thread.start()
    }

    /// No look begins after this.
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
            if let channel = connected() { listen(on: channel) } else { _ = tell(false) }
            let pause = backoff.pause(afterConnectionLasting: MachineClock.monotonic - began)
            _ = ended.wait(until: MachineClock.monotonic + UInt64(pause) * 1_000_000)
        }
    }

    /// It does not start a service that somebody stopped, as a call does.
    private func connected() -> Channel? {
        guard let channel = try? service()?.authenticationAddress.connect(role: AuthenticationRole.watcher.rawValue) else { return nil }
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
        // A look that saw nothing is made again from time to time, by another connection; and every look where there are too many watches.
        while let message = try? channel.receive(.idle), let notice = try? EnvironmentNotice(derBytes: message.header) {
            guard tell(true), notice == .changed else { return }
        }
    }

    private func tell(_ isReachable: Bool) -> Bool { state.withLock { $0.isEnded } || look(isReachable) }
}
