internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanRefusal

/// What a client's call asks a room for, of which the user may be prompted. It ends when the client leaves the bus, and the prompt is
/// withdrawn then; so it is when the user is prompted longer than the client waits for its answer.
final class UserRequest: Sendable {
    private struct State: Sendable {
        /// Ends the thread that waits for the deadline.
        var wakeup: Wakeup?
        var isLate = false
    }

    let cancellation = CallCancellation()
    private let client: BusClient
    /// Until when the client waits, on the monotonic clock, in nanoseconds; nil if that is as long as the user is prompted.
    private let deadline: UInt64?
    private let state = Mutex(State())

    init(_ client: BusClient, until deadline: UInt64?) {
        self.client = client
        self.deadline = deadline
        client.begin(cancellation)
    }

    /// Whether the deadline has passed already, so that no prompt may begin.
    var isTooLateToPrompt: Bool { deadline.map { MachineClock.monotonic >= $0 } ?? false }

    /// Why the request ended, if that was its deadline.
    var refusal: Refusal? { state.withLock { $0.isLate } ? Refusal(.userTimedOut) : nil }

    /// Called when the user is prompted, perhaps several times.
    func waitsForUser() {
        guard let deadline else { return }
        do throws(SystemError) {
            let wakeup = try Wakeup()
            let isFirst = state.withLock { state in
                guard state.wakeup == nil else { return false }
                state.wakeup = wakeup
                return true
            }
            guard isFirst else { return }
            try HostThread.start { [self] in
                if wakeup.wait(until: deadline) == .deadline { endLate() }
            }
        } catch {
            // Without a thread nothing would withdraw the prompt.
            endLate()
        }
    }

    /// Called when the request has its reply.
    func end() {
        client.end(cancellation)
        state.withLock { $0.wakeup }?.signal()
    }

    private func endLate() {
        state.withLock { $0.isLate = true }
        cancellation.cancel()
    }
}
