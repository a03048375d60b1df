internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanRefusal

/// A request to a room on behalf of a client's call, which may prompt the user. The request is cancelled and its prompt withdrawn when the
/// client leaves the bus, or when the prompt takes longer than the client waits for its reply.
final class UserRequest: Sendable {
    private struct State: Sendable {
        /// Ends the thread that waits for the deadline.
        var wakeup: Wakeup?
        var isLate = false
    }

    let cancellation = CallCancellation()
    private let client: BusClient
    /// When the client stops waiting, in nanoseconds of the monotonic clock; nil if it waits as long as the prompt takes.
    private let deadline: UInt64?
    private let state = Mutex(State())

    init(_ client: BusClient, until deadline: UInt64?) {
        self.client = client
        self.deadline = deadline
        client.begin(cancellation)
    }

    /// Whether the deadline has passed, so that no prompt may begin.
    var isTooLateToPrompt: Bool { deadline.map { MachineClock.monotonic >= $0 } ?? false }

    /// The refusal for a request that ended at its deadline; otherwise nil.
    var refusal: Refusal? { state.withLock { $0.isLate } ? Refusal(.userTimedOut) : nil }

    /// Starts the deadline when the user is prompted. May be called several times.
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
            // Without a thread, nothing would withdraw the prompt at the deadline.
            endLate()
        }
    }

    /// Ends the request after its reply.
    func end() {
        client.end(cancellation)
        state.withLock { $0.wakeup }?.signal()
    }

    private func endLate() {
        state.withLock { $0.isLate = true }
        cancellation.cancel()
    }
}
