// Runs blocking calls off the threads of Swift's tasks. `SecItem…` returns when the keychain replies, which may be after the user answers;
// the few threads that all tasks share must not wait for that.

internal import Foundation

/// Threads that exist only while there are calls.
///
/// `@unchecked Sendable`: all state is used under the lock.
final class BlockingCalls: @unchecked Sendable {
    static let shared = BlockingCalls()

    /// Fewer than the connections that Vauban serves to one user at a time, which the user's other programs need as well.
    static let threadsMax = 64

    private let lock = NSLock()
    private var waiting: [@Sendable () -> Void] = []
    private var threads = 0

    /// Runs `body` on a thread where it may block. If the task is cancelled, a pending call does not start, and a running one is no longer
    /// awaited: its value is discarded when it ends. `abandon` is called then.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value, abandon: @escaping @Sendable () -> Void
    ) async throws -> Value {
        let wait = Wait<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard wait.begin(continuation) else { return }
                submit { if wait.isWanted { wait.end(Result(catching: body)) } }
            }
        } onCancel: {
            if wait.end(.failure(CancellationError())) { abandon() }
        }
    }

    private func submit(_ call: @escaping @Sendable () -> Void) {
        let needsThread = lock.withLock {
            waiting.append(call)
            guard threads < Self.threadsMax else { return false }
            threads += 1
            return true
        }
        if needsThread { Thread.detachNewThread { [self] in work() } }
    }

    private func work() {
        while let call = next() { autoreleased(call) }
    }

    private func next() -> (@Sendable () -> Void)? {
        lock.withLock {
            guard waiting.isEmpty else { return waiting.removeFirst() }
            threads -= 1
            return nil
        }
    }

    /// On Apple's systems, autoreleased objects of a call live until its pool drains, secrets included.
    private func autoreleased(_ call: () -> Void) {
        #if canImport(ObjectiveC)
        autoreleasepool { call() }
        #else
        call()
        #endif
    }
}

/// A waiting task, resumed exactly once.
///
/// `@unchecked Sendable`: all state is used under the lock.
private final class Wait<Value: Sendable>: @unchecked Sendable {
    private enum State {
        case notBegun
        case waiting(CheckedContinuation<Value, any Error>)
        case ended
    }

    private let lock = NSLock()
    private var state = State.notBegun

    /// Returns false if the task was cancelled before; it has been resumed.
    func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let begins = lock.withLock {
            guard case .notBegun = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !begins { continuation.resume(throwing: CancellationError()) }
        return begins
    }

    var isWanted: Bool {
        lock.withLock { if case .waiting = state { true } else { false } }
    }

    /// Returns false if the wait was already over; the value is discarded.
    @discardableResult
    func end(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation): (Bool, CheckedContinuation<Value, any Error>?) = lock.withLock {
            defer { state = .ended }
            return switch state {
            case .notBegun: (true, nil)
            case .waiting(let continuation): (true, continuation)
            case .ended: (false, nil)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }
}
