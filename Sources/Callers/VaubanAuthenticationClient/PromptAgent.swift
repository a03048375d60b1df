// The user's side of a prompt. An agent is not trusted: it can return a passcode sealed to the enclave, or decline.

import Glibc
internal import Synchronization
import VaubanAuthenticationWire
import VaubanDER
package import VaubanLinuxHost
import VaubanPasscode
package import VaubanRefusal
import VaubanSecretBytes
internal import VaubanUserModel
import VaubanUserWire

/// A registered agent. Its creator calls `serve` on one thread whenever `descriptor` is readable, or `run`.
package final class PromptAgent: Sendable {
    private let channel: Channel
    private let inbox: AgentInbox
    /// Where prompts are shown; nil if they are forwarded.
    private let surface: (any PromptSurface)?
    /// The recovery key that was sent with the last passcode, until the enclave confirms that it is valid.
    private let sentKey = Mutex<SentKey?>(nil)

    private struct SentKey: ~Copyable {
        let prompt: [UInt8]
        let key: RecoveryKey
    }

    /// Registers an agent for every caller of this user: the terminal of `vauban approve`. With `startsService` false, a stopped service
    /// is not started: an agent that registers again would otherwise undo `vauban stop`.
    package static func forEveryCaller(
        of service: Service, place: String, surface: any PromptSurface, startsService: Bool = true
    ) throws(Refusal) -> PromptAgent {
        try PromptAgent(service: service, scope: .everyCaller, place: place, surface: surface, startsService: startsService)
    }

    /// Registers the sheet on the user's desktop, for every caller, ahead of any terminal.
    package static func sheet(
        of service: Service, place: String, surface: any PromptSurface, startsService: Bool
    ) throws(Refusal) -> PromptAgent {
        try PromptAgent(service: service, scope: .sheet, place: place, surface: surface, startsService: startsService)
    }

    /// Registers an agent for requests of this process: Vauban's command line, on its own terminal.
    package static func forThisProcess(of service: Service, place: String, surface: any PromptSurface) throws(Refusal) -> PromptAgent {
        try PromptAgent(service: service, scope: .ownProcess, place: place, surface: surface)
    }

    /// Registers an agent for every caller for which no other place shows prompts. Its creator calls `serve` with what forwards them.
    package static func forwarder(of service: Service, place: String, startsService: Bool) throws(Refusal) -> PromptAgent {
        try PromptAgent(service: service, scope: .otherDevice, place: place, surface: nil, startsService: startsService)
    }

    /// Returns once authd has registered the agent, so that requests made afterwards prompt here.
    private init(
        service: Service, scope: AgentScope, place: String, surface: (any PromptSurface)?, startsService: Bool = true
    ) throws(Refusal) {
        let connection = ServiceConnection(
            service: service, address: service.authenticationAddress, role: AuthenticationRole.agent.rawValue, startsService: startsService)
        self.surface = surface
        do {
            inbox = try AgentInbox()
            channel = try connection.fresh()
            try channel.send(header: try AgentMessage.register(scope, place: place).encoded())
            switch try AgentNotice(derBytes: try channel.receive(.after(ConnectionLimits.replyTime)).header) {
            case .registered: break
            case .refused(let refusal): throw refusal
            case .ask, .resolved, .update:
                throw Refusal(.unavailable, "The authentication service sent a prompt before it registered this terminal")
            }
        } catch {
            throw Self.refusal(error)
        }
        do throws(SystemError) {
            try HostThread.start { [channel, inbox, service] in Self.read(channel, into: inbox, of: service) }
        } catch {
            throw Self.refusal(error)
        }
    }

    deinit { channel.shutDown() }

    /// A descriptor that is readable while there is something for `serve` to handle.
    package var descriptor: Descriptor { inbox.descriptor }

    /// Ends the agent: authd sends no more prompts here, and `run` returns.
    package func end() { channel.shutDown() }

    /// Serves until the connection ends, and returns why it did.
    package func run() -> Refusal {
        while true {
            var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, -1) < 0 && errno != EINTR { return Refusal(.internalError, "waiting for prompts failed") }
            if let ended = serve() { return ended }
        }
    }

    /// Handles everything that has arrived, which may show prompts and wait for the user. Returns why the connection ended, once it has;
    /// nil before that.
    /// - Parameter forwarding: Takes the prompts, if this agent has no surface.
    package func serve(by forwarding: (any PromptForwarding)? = nil) -> Refusal? {
        while let entry = inbox.take() {
            switch entry {
            case .ended(let refusal): return refusal
            case .resolved(_, let outcome):
                forgetKey()
                reportOutcome(outcome, forwarding)
            case .ask(let asked): answer(asked, forwarding)
            // No prompt is on the screen that it could be about.
            case .update: continue
            }
        }
        return nil
    }

    private func answer(_ asked: AgentPrompt, _ forwarding: (any PromptForwarding)?) {
        let request = asked.request
        if request.isMade { return showKey(of: request) }
        forgetKey()
        let card: EnclaveKeyCard
        switch asked.card {
        case .success(let good): card = good
        case .failure: return send(.cancelled, to: request)
        }
        let withdrawal = PromptWithdrawal(inbox: inbox, prompt: request.prompt)
        if let surface {
            switch surface.ask(request, withdrawal: withdrawal) {
            case .passcode(let passcode) where request.change == .makeRecoveryKey: return send(passcode, withNewKeyFor: request, card)
            case .newPasscode(let current, let new): return send(current, with: new, for: request, card)
            case let response:
                if let answer = PromptAnswer(response, to: request, sealedTo: card) { return send(answer, to: request) }
            }
        } else {
            guard let forwarding else { return send(.cancelled, to: request) }
            if let answer = forwarding.answer(request, to: card, withdrawal: withdrawal) { return send(answer, to: request) }
        }
        switch withdrawal.reason {
        case .resolved(let outcome):
            forgetKey()
            reportOutcome(outcome, forwarding)
        case .promptedAgain: break
        case nil: reportOutcome(.callerGone, forwarding)
        }
    }

    private func reportOutcome(_ outcome: PromptOutcome, _ forwarding: (any PromptForwarding)?) {
        surface?.handleOutcome(outcome)
        forwarding?.handleOutcome(outcome)
    }

    /// Sends a passcode with the new secret of a change. The passcode's seal is bound to the secret's seal, and that seal to the change.
    /// Without this binding the new secret, once it is the passcode, could answer any other prompt with this challenge.
    private func send(
        _ passcode: borrowing SecretBytes, with new: borrowing SecretBytes, for request: PromptRequest, _ card: EnclaveKeyCard
    ) {
        do throws(Refusal) {
            let sealedNew = try SealedPasscode(new, to: card, for: request.challenge, authorizing: request.change.map { .change($0) })
            let binding = SealBinding.ofAnswer(holding: nil, making: request.change, new: sealedNew)
            let sealed = try SealedPasscode(passcode, to: card, for: request.challenge, authorizing: binding)
            send(.credential(sealed, new: sealedNew), to: request)
        } catch {
            send(.cancelled, to: request)
        }
    }

    /// Makes a recovery key and sends it with the passcode. The key is shown only once it is valid.
    private func send(_ passcode: borrowing SecretBytes, withNewKeyFor request: PromptRequest, _ card: EnclaveKeyCard) {
        do throws(SystemError) {
            let key = RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes))
            send(passcode, with: key.digits, for: request, card)
            // Passed through an optional, since a closure cannot consume what it captures.
            var sent: SentKey? = SentKey(prompt: request.prompt, key: key)
            sentKey.withLock { $0 = sent.take() }
        } catch {
            send(.cancelled, to: request)
        }
    }

    /// Shows the recovery key that is now valid. An agent that did not make the key declines, and the user is advised to make another.
    private func showKey(of request: PromptRequest) {
        var taken: SentKey?
        sentKey.withLock { taken = $0.take() }
        guard let surface, let sent = taken.take(), sent.prompt == request.prompt, surface.show(sent.key) else {
            return send(.cancelled, to: request)
        }
        send(.seen, to: request)
    }

    private func forgetKey() { sentKey.withLock { $0 = nil } }

    private func send(_ answer: PromptAnswer, to request: PromptRequest) {
        // If the connection has ended, the reading thread reports it to the inbox.
        guard let header = try? AgentMessage.answer(prompt: request.prompt, challenge: request.challenge.nonce, answer).encoded() else {
            return
        }
        try? channel.send(header: header)
    }

    private static func read(_ channel: Channel, into inbox: AgentInbox, of service: Service) {
        while true {
            do {
                let message = try channel.receive(.idle)
                switch try AgentNotice(derBytes: message.header) {
                case .registered: continue
                case .refused(let refusal): throw refusal
                case .resolved(let prompt, let outcome): inbox.put(.resolved(prompt: prompt, outcome))
                case .update(let prompt, let update): inbox.put(.update(prompt: prompt, update))
                case .ask(let request):
                    let descriptors = message.descriptors
                    let card = Result { () throws(Refusal) in try EnclaveKeyCard(from: descriptors, of: service) }
                    inbox.put(.ask(AgentPrompt(request: request, card: card)))
                    // A key that is not the enclave's concerns every prompt: the agent ends and reports why.
                    if case .failure(let refusal) = card { throw refusal }
                }
            } catch {
                return inbox.put(.ended(refusal(error)))
            }
        }
    }

    private static func refusal(_ error: any Error) -> Refusal {
        switch error {
        case let refusal as Refusal: refusal
        case let fault as HandshakeError: Refusal(unreachable: fault, what: "the authentication service")
        case let fault as ChannelError: Refusal(unreachable: .channel(fault), what: "the authentication service")
        case let fault as SystemError: Refusal(.unavailable, fault.sentence)
        default: Refusal(.unavailable, "The authentication service sent a message that cannot be read")
        }
    }
}

/// The withdrawal of one prompt, as the inbox reports it.
private final class PromptWithdrawal: Withdrawal {
    private let inbox: AgentInbox
    private let prompt: [UInt8]
    private(set) var reason: AgentInbox.WithdrawalReason?

    init(inbox: AgentInbox, prompt: [UInt8]) {
        self.inbox = inbox
        self.prompt = prompt
    }

    var descriptor: Descriptor { inbox.descriptor }

    func updates() -> [PromptUpdate] { inbox.updates(of: prompt) }

    func isWithdrawn() -> Bool {
        if reason == nil { reason = inbox.withdrawalReason(of: prompt) }
        return reason != nil
    }
}
