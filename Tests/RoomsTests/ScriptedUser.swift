import CVaubanLinux
import Foundation
import Synchronization
import TestSupport
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanSecretBytes
import VaubanUserModel

/// A user with predetermined answers, behind the real agent. It can enter a passcode or cancel, as at a terminal, and nothing else.
final class ScriptedUser: PromptSurface, Sendable {
    enum Answer: Sendable {
        case passcode(String)
        /// To a prompt for another passcode: the current one, and the new one.
        case newPasscode(String, String)
        case cancel
        case fallback
        /// Leaves the prompt unanswered until it is withdrawn.
        case silence
        /// Does something while the prompt is on the screen, then enters a passcode.
        case afterwards(@Sendable () -> Void, String)
        /// Does something else, and leaves the prompt unanswered.
        case act(@Sendable () -> Void)
    }

    private struct State {
        var answers: [Answer]
        var requests: [PromptRequest] = []
        var outcomes: [PromptOutcome] = []
        var updates: [PromptUpdate] = []
        var recoveryKeys: [[UInt8]] = []
    }

    private let state: Mutex<State>
    private let agent = Mutex<PromptAgent?>(nil)
    private let asked = DispatchSemaphore(value: 0)
    /// What happens while a recovery key is shown; returns whether it was seen.
    private let seeing: @Sendable () -> Bool

    init(service: Service, answers: [Answer], seeing: @escaping @Sendable () -> Bool = { true }) throws {
        self.seeing = seeing
        state = Mutex(State(answers: answers))
        let agent = try PromptAgent.forEveryCaller(of: service, place: "a test's terminal", surface: self)
        self.agent.withLock { $0 = agent }
        Thread.detachNewThread { _ = agent.run() }
    }

    var requests: [PromptRequest] { state.withLock { $0.requests } }
    var outcomes: [PromptOutcome] { state.withLock { $0.outcomes } }
    /// The prompts that did not end because their caller was gone. A call that an earlier test cancelled may be shown once more, and
    /// withdrawn. Correct only if no prompt was retried, since a retry is a request without an outcome.
    var lastingRequests: [PromptRequest] {
        state.withLock { state in
            let gone = state.outcomes.indices.filter { state.outcomes[$0] == .callerGone }
            return state.requests.indices.filter { !gone.contains($0) }.map { state.requests[$0] }
        }
    }

    /// The updates of the prompts that were left unanswered.
    var updates: [PromptUpdate] { state.withLock { $0.updates } }

    /// The digits of the recovery keys that were shown.
    var recoveryKeys: [[UInt8]] { state.withLock { $0.recoveryKeys } }

    /// Leaves, so that no more prompts appear.
    func leave() {
        agent.withLock { agent in
            agent?.end()
            // The agent retains this user.
            agent = nil
        }
    }

    /// Waits until a prompt has come; returns false if none does.
    func awaitPrompt() -> Bool { asked.wait(timeout: .now() + HangLimit.seconds) == .success }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? Answer.cancel : state.answers.removeFirst()
        }
        asked.signal()
        switch answer {
        case .passcode(let text): return request.consent == nil ? .passcode(secret(text)) : .consent(secret(text), .once)
        case .newPasscode(let current, let new): return .newPasscode(current: secret(current), secret(new))
        case .cancel: return .cancelled
        case .fallback: return .fallback
        case .afterwards(let before, let text):
            before()
            return .passcode(secret(text))
        case .silence, .act:
            if case .act(let action) = answer { action() }
            while true {
                // First, since updates before the end are reported too.
                let isOver = withdrawal.isWithdrawn()
                let news = withdrawal.updates()
                state.withLock { $0.updates += news }
                if isOver { return .withdrawn }
                var poller = pollfd(fd: withdrawal.descriptor.number, events: Int16(POLLIN), revents: 0)
                poll(&poller, 1, 10_000)
            }
        }
    }

    func show(_ recoveryKey: borrowing RecoveryKey) -> Bool {
        let digits = recoveryKey.digits.withUnsafeBytes { Array($0) }
        state.withLock { $0.recoveryKeys.append(digits) }
        return seeing()
    }

    func handleOutcome(_ outcome: PromptOutcome) { state.withLock { $0.outcomes.append(outcome) } }
}

enum ProcessDescriptorForTests {
    static func open(_ pid: pid_t) throws -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a process"))
    }
}
