internal import Synchronization
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost

/// A prompt that waits for the keychain to be unlocked. It ends when its caller dismisses it or leaves, or when the keychain is unlocked.
final class UnlockWait: Sendable {
    private enum End { case unlocked, cancelled }

    private struct State {
        var end: End?
        var call: CallCancellation?
        /// Whether the call follows an unlock and is therefore not ended by it.
        var isAfterUnlock = false
    }

    private let state = Mutex(State())
    /// Signaled when the user's environment changed or the wait ended.
    let wakeup: Wakeup

    init() throws(SystemError) { wakeup = try Wakeup() }

    var isUnlocked: Bool { state.withLock { $0.end == .unlocked } }
    var isCancelled: Bool { state.withLock { $0.end == .cancelled } }

    /// Ends the wait, and withdraws the prompt from the screen.
    func cancel() { end(.cancelled) }

    /// Ends the wait because the keychain is unlocked.
    func unlocked() { end(.unlocked) }

    private func end(_ end: End) {
        let call = state.withLock { state in
            if state.end != .cancelled { state.end = end }
            return end == .unlocked && state.isAfterUnlock ? nil : state.call
        }
        call?.cancel()
        wakeup.signal()
    }

    /// Returns the cancellation for the next call. Returns nil if the wait has ended, unless it ended by the unlock that this call follows.
    func beginCall(afterUnlock: Bool = false) -> CallCancellation? {
        state.withLock { state in
            guard state.end == nil || afterUnlock && state.end == .unlocked else { return nil }
            state.isAfterUnlock = afterUnlock
            let call = CallCancellation()
            state.call = call
            return call
        }
    }
}

/// Ends the waits of prompts after an unlock, by the service's notices (Specs/environment.md). It has a connection only while a prompt
/// waits.
final class UnlockNotices: Sendable {
    private struct State {
        var waits: [ObjectIdentifier: UnlockWait] = [:]
        var listener: EnvironmentListener?
    }

    private let state = Mutex(State())
    private let service: Service
    private let isLocked: @Sendable () -> Bool?

    /// `isLocked` returns nil if that is unknown at the moment.
    init(_ service: Service, isLocked: @escaping @Sendable () -> Bool?) {
        self.service = service
        self.isLocked = isLocked
    }

    func add(_ wait: UnlockWait) throws(SystemError) {
        let service = service
        let listener = try EnvironmentListener(service: { service }, onChange: { [weak self] in self?.checkLockState($0) ?? false })
        let isFirst = try state.withLock { state throws(SystemError) in
            // Started before it is stored, so that no other wait relies on a listener that could not start.
            let isFirst = state.listener == nil
            if isFirst {
                try listener.start()
                state.listener = listener
            }
            state.waits[ObjectIdentifier(wait)] = wait
            return isFirst
        }
        if isFirst { return }
        // The listener's first notice may have arrived before this wait.
        if isLocked() == false { wait.unlocked() }
    }

    func remove(_ wait: UnlockWait) {
        let listener: EnvironmentListener? = state.withLock { state in
            state.waits[ObjectIdentifier(wait)] = nil
            guard state.waits.isEmpty else { return nil }
            defer { state.listener = nil }
            return state.listener
        }
        listener?.end()
    }

    private func checkLockState(_ isReachable: Bool) -> Bool {
        guard isReachable, let isLocked = isLocked() else { return false }
        for wait in state.withLock({ Array($0.waits.values) }) {
            if isLocked { wait.wakeup.signal() } else { wait.unlocked() }
        }
        return true
    }
}
