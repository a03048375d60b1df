import CVaubanLinux
import Foundation
import Synchronization
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes
import VaubanUserModel

/// A user with predetermined answers, behind the real agent. It can enter a passcode or cancel, as at a terminal, and nothing else.
final class ScriptedUser: PromptSurface, Sendable {
    enum Answer: Sendable {
        case passcode(String)
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
    }

    private let state: Mutex<State>
    private let agent = Mutex<PromptAgent?>(nil)
    private let asked = DispatchSemaphore(value: 0)

    init(service: Service, answers: [Answer]) throws {
        state = Mutex(State(answers: answers))
        let agent = try PromptAgent.forEveryCaller(of: service, place: "a test's terminal", surface: self)
        self.agent.withLock { $0 = agent }
        Thread.detachNewThread { _ = agent.run() }
    }

    var requests: [PromptRequest] { state.withLock { $0.requests } }
    var outcomes: [PromptOutcome] { state.withLock { $0.outcomes } }
    /// The updates of the prompts that were left unanswered.
    var updates: [PromptUpdate] { state.withLock { $0.updates } }

    /// Leaves, so that no more prompts appear.
    func leave() { agent.withLock { $0?.end() } }

    /// Waits until a prompt has come; returns false if none did within the machine's timeout.
    func awaitPrompt() -> Bool { asked.wait(timeout: .now() + 10) == .success }

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? Answer.cancel : state.answers.removeFirst()
        }
        asked.signal()
        switch answer {
        case .passcode(let text): return request.consent == nil ? .passcode(secret(text)) : .consent(secret(text), .once)
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

    func resolved(_ outcome: PromptOutcome) { state.withLock { $0.outcomes.append(outcome) } }
}

enum ProcessDescriptorForTests {
    static func open(_ pid: pid_t) throws -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a process"))
    }
}
