import Authentication
import EnclaveWire
import VaubanAccessPolicy
import VaubanAuthenticationWire
import VaubanUserModel

/// Prompts, answers and agents with as few parameters as a test needs.
enum Sample {
    static let alice: UInt32 = 1000
    static let bob: UInt32 = 1001

    static func prompt(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }
    static func nonce(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    static func request(
        _ number: UInt8, of user: UInt32 = alice, caller: Int64 = 50, attempt: Int64 = 1, consent: Consent? = nil,
        change: CredentialChange? = nil, isMade: Bool = false, methods: AuthenticationMethods = .passcode
    ) -> PromptRequest {
        PromptRequest(
            prompt: prompt(number), user: user,
            challenge: PasscodeChallenge(nonce: nonce(number + 50 * UInt8(attempt)), purpose: .prompt),
            caller: CallerName(pid: caller, path: "/usr/bin/program"), operation: change == nil ? .evaluatePolicy : .changeCredential,
            reason: "a reason",
            attempt: attempt,
            attemptsLeft: 5, methods: methods, consent: consent, change: change, isMade: isMade)
    }

    static func approveTerminal(of user: UInt32 = alice, pid: Int32 = 10, at place: String = "vauban approve") -> Agent {
        Agent(user: user, pid: pid, scope: .everyCaller, place: place)
    }

    static func ownAgent(of user: UInt32 = alice, pid: Int32 = 50, at place: String = "own terminal") -> Agent {
        Agent(user: user, pid: pid, scope: .ownProcess, place: place)
    }

    /// Returns an agent of a program other than Vauban.
    static func programsOwnAgent(pid: Int32 = 50) -> Agent {
        Agent(user: alice, pid: pid, scope: .ownProcess, place: "own terminal", takesConsent: false)
    }

    static func forwarder(at place: String = "elsewhere") -> Agent {
        Agent(user: alice, pid: 12, scope: .otherDevice, place: place)
    }

    static let passcode = PromptAnswer.passcode(SealedPasscode(encapsulated: nonce(7), ciphertext: nonce(8)))
}

extension PromptQueueEffect {
    static func shown(_ request: PromptRequest, _ place: String) -> PromptQueueEffect {
        .report(.shown(prompt: request.prompt, place: place))
    }

    static func waiting(_ request: PromptRequest, _ place: String) -> PromptQueueEffect {
        .report(.waiting(prompt: request.prompt, place: place))
    }

    static func answer(_ request: PromptRequest, _ answer: PromptAnswer) -> PromptQueueEffect {
        .report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, answer))
    }
}

extension PromptQueue {
    /// Answers a prompt as an agent that shows it.
    mutating func answer(from agent: AgentID, _ request: PromptRequest, _ answer: PromptAnswer) -> [PromptQueueEffect] {
        handle(.answered(agent, prompt: request.prompt, challenge: request.challenge.nonce, answer))
    }

    /// Creates a queue in which these agents registered in this order, numbered from 1.
    init(_ agents: [Agent]) {
        self.init()
        for (index, agent) in agents.enumerated() { _ = handle(.agentArrived(AgentID(UInt64(index) + 1), agent)) }
    }
}
