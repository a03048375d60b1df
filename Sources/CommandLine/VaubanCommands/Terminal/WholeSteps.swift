import Dispatch

/// The steps of a command that a signal does not cut in two. Each is a change together with the line that reports it: a signal during a
/// step ends the process after it (`Interruption`).
struct WholeSteps: Sendable {
    /// The longest wait for a step; a service that hangs must not keep the user from ending the command.
    private static let secondsMax = 5
    private let mayBegin = DispatchSemaphore(value: 0)
    private let isDone = DispatchSemaphore(value: 0)

    init() {
        // Initial values of 1 would trap if the semaphores were released while they are 0.
        mayBegin.signal()
        isDone.signal()
    }

    func take<Result>(_ step: () throws -> Result) rethrows -> Result {
        mayBegin.wait()
        mayBegin.signal()
        isDone.wait()
        defer { isDone.signal() }
        return try step()
    }

    /// Lets no other step begin, and waits until the current one is done.
    func end() {
        mayBegin.wait()
        _ = isDone.wait(timeout: .now() + .seconds(Self.secondsMax))
    }
}
