import Crypto
import Glibc
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSyncModel
import VaubanUserModel

/// Forwards this device's prompts to other devices of the user's circle, for vauban approve --forward, and receives their answers
/// (Specs/forwarded-prompts.md). Runs on one thread.
final class PromptForwarder: PromptForwarding {
    /// The forwarder file as published, and the circle at that time.
    private struct Published {
        let file: ForwarderFile
        let bytes: [UInt8]
        let view: CircleView
        let folder: any SyncCarrier
        let cipher: FrameCipher
    }

    private let access: CircleAccess
    private let signals: ForwardingSignals
    private let key = Curve25519.Signing.PrivateKey()
    private var published: Published?
    private var number: Int64 = 0
    /// Why the last prompt could not be forwarded.
    private var failure: (any Error)?
    /// Why prompts are not forwarded, so that it is reported once.
    private var lastFault: String?
    private var afterFault = PromptForwarder.pausesAfterFault

    private static var pausesAfterFault: Backoff { Backoff(from: 1_000, to: 60_000) }
    private static let beginning = "Prompts that nothing here can show go to your other devices. Press Ctrl-C to stop."
    private static let place = "another device of yours, where vauban approve --devices runs"

    init(_ options: UserOptions) throws {
        let service = try ServiceAccess.current()
        access = CircleAccess(service, options)
        signals = try ForwardingSignals(of: service)
    }

    /// Forwards prompts until a signal ends the process. Throws errors that the user must resolve.
    func run() throws -> Never {
        var isFirst = true
        while true {
            do {
                failure = nil
                signals.wakeup.clear()
                try publish()
                try write(.ended(.expired))
                let agent = try PromptAgent.forwarder(of: access.service, place: Self.place, startsService: isFirst)
                say(isFirst ? Self.beginning : "Forwarding again.")
                (isFirst, lastFault, afterFault) = (false, nil, Self.pausesAfterFault)
                try serve(agent)
            } catch {
                if isFirst { throw error }
                try pause(after: error)
            }
        }
    }

    /// Serves an agent until its connection ends or prompts cannot be forwarded, and throws the reason.
    private func serve(_ agent: PromptAgent) throws {
        // authd then uses another agent, or finds none.
        defer { agent.end() }
        while true {
            var pollers = [agent.descriptor, signals.wakeup.descriptor].map {
                pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&pollers, 2, -1) >= 0 || errno == EINTR else { throw Refusal(.internalError, "waiting for prompts failed") }
            if pollers[1].revents != 0 {
                signals.wakeup.clear()
                if let published { try signals.watch(published.folder, besides: published.view.device) }
            }
            if let ended = agent.serve(by: self) {
                throw ended.reason == .unavailable ? Refusal(.unavailable, "The authentication service has ended") : ended
            }
            if let failure { throw failure }
        }
    }

    private func pause(after error: any Error) throws {
        guard let refusal = error as? Refusal else { throw error }
        switch refusal.reason {
        case .locked, .beforeFirstUnlock:
            report("The keychain is locked; prompts are forwarded again once it is unlocked.")
            signals.awaitUnlock()
            _ = signals.wakeup.wait(until: .max)
        case .unavailable, .storageFull, .badParameter:
            report("Not forwarding: \(refusal.detail ?? refusal.message)")
            signals.forgetWatch()
            access.forgetCarrier()
            poll(nil, 0, afterFault.pause())
        default: throw refusal
        }
    }

    private func report(_ fault: String) {
        if fault != lastFault { say(fault) }
        lastFault = fault
    }

    // MARK: The forwarder file

    /// Publishes the keys with which this device forwards prompts. Call it again after the enclave has restarted, and under each new key of
    /// the circle.
    private func publish() throws {
        let (circle, files) = try access.open()
        let view = circle.view
        guard let newest = files.last else { throw Refusal(.internalError, "the circle has no key") }
        let time = MachineClock.referenceMicroseconds
        let verification = Array(key.publicKey.rawRepresentation)
        let signed = try circle.signKeyCard(
            with: ForwarderFile.digest(of: view.device, in: view, time: time, verification: verification))
        let file = ForwarderFile(
            epoch: view.epoch, time: time, card: EnclaveKeyCard(publicKey: signed.card), verification: verification)
        let bytes = file.bytes(signature: signed.signature)
        try circle.folder.replace(.forwarder, of: view.device, with: bytes)
        published = Published(
            file: file, bytes: bytes, view: view, folder: circle.folder, cipher: file.cipher(of: view.device, in: view, newest))
        try signals.watch(circle.folder, besides: view.device)
    }

    /// Publishes the forwarder file again if this card requires it. While the keychain is locked, uses the circle as last recorded.
    private func publishIfNeeded(for card: EnclaveKeyCard) throws -> Published {
        let known = published?.view
        let isCurrent = try access.knownView().map { $0.epoch == known?.epoch && $0.circle == known?.circle } ?? true
        if published?.file.card != card || !isCurrent { try publish() }
        // A device may have been removed by a statement that this device has not followed yet.
        if let known = published, known.view.number < CircleRequest.numberMax,
            try known.folder.read(SyncFolder.name(of: known.view.number + 1), in: .circle) != nil
        {
            try publish()
        }
        guard let published, published.file.card == card else {
            throw Refusal(.unavailable, "The enclave was started again; unlock the keychain on this device")
        }
        // Another forwarder, or the carrier, may have replaced the file.
        let device = published.view.device
        if try published.folder.read(.forwarder, of: device) != published.bytes {
            try published.folder.replace(.forwarder, of: device, with: published.bytes)
        }
        return published
    }

    private func write(_ state: ForwardedPrompt.State) throws {
        guard let published else { throw Refusal(.internalError, "no forwarder file was published") }
        number += 1
        let prompt = ForwardedPrompt(number: number, time: MachineClock.referenceMicroseconds, state)
        let bytes = try prompt.sealed(of: published.view.device, in: published.view, published.cipher, signing: key)
        try published.folder.replace(.prompt, of: published.view.device, with: bytes)
    }

    // MARK: Prompts

    func answer(_ request: PromptRequest, to card: EnclaveKeyCard, withdrawal: any Withdrawal) -> PromptAnswer? {
        do {
            let published = try publishIfNeeded(for: card)
            try write(.asked(request))
            try signals.watch(published.folder, besides: published.view.device)
            while !withdrawal.isWithdrawn() {
                if let answer = try answer(to: request, by: published) { return answer }
                var pollers = [withdrawal.descriptor, signals.wakeup.descriptor].map {
                    pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
                }
                guard poll(&pollers, 2, -1) >= 0 || errno == EINTR else { throw Refusal(.internalError, "waiting for an answer failed") }
                if pollers[1].revents != 0 {
                    signals.wakeup.clear()
                    try signals.watch(published.folder, besides: published.view.device)
                }
            }
        } catch {
            failure = error
        }
        return nil
    }

    /// Returns the answer to a prompt, if there is one. Ignores any other file: it answers an earlier prompt, or was not written by a
    /// device of the circle.
    private func answer(to request: PromptRequest, by published: Published) throws -> PromptAnswer? {
        let device = published.view.device
        guard let bytes = try published.folder.read(.answer, of: device),
            let answer = ForwardedAnswer.opened(bytes, for: device, published.cipher),
            answer.challenge == request.challenge.nonce
        else { return nil }
        published.folder.remove(ForwardedFile.answer.rawValue, in: .prompts(device))
        switch answer.answer {
        case .passcode, .consent, .cancelled: return answer.answer
        case .fallback, .credential, .seen, .nobody: return .cancelled
        }
    }

    func handleOutcome(_ outcome: PromptOutcome) {
        guard failure == nil else { return }
        do { try write(.ended(outcome)) } catch { failure = error }
    }
}
