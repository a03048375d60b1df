// The library for prompt agents with a window, which show authd's prompts. Applications do not use it. An agent is not trusted, and nothing
// here lets it give consent: it can pass on a passcode, sealed to the enclave, or decline.

import Dispatch
import Glibc
import Synchronization
package import VaubanAuthenticationClient
internal import VaubanKeychainClient
import VaubanLinuxHost
package import VaubanPasscode
internal import VaubanPasscodeEstimate
internal import VaubanRefusal
import VaubanSecretBytes
package import VaubanUserModel

/// A sheet's connection to authd. Call `run` on a separate thread; call everything else from any thread.
public final class SheetAgent: Sendable {
    private let place: String
    private let directory: ApplicationDirectory
    private let changed: @Sendable () -> Void
    private let model = Mutex(SheetModel())
    private let replies: ReplyBox
    /// The digits of the recovery key on the screen, as they are printed on paper.
    private let shownKey = Mutex<SecretBytes?>(nil)
    /// Whether the user is in front of this session, and the agent registered while they are.
    private let seat = Mutex<(isTaken: Bool, agent: PromptAgent?)>((true, nil))
    private let seatChanged = DispatchSemaphore(value: 0)

    /// The pauses between checks whether a stopped service is back, in milliseconds. The user waits for it.
    private static let returnPauses = (shortest: Int32(100), longest: Int32(1_000))
    private static let away = Refusal(.noPromptAgent, "this session is not the active one, or its screen is locked")

    /// - Parameters:
    ///   - place: The place of the prompt as a waiting caller's terminal names it, such as `a window on your desktop`.
    ///   - changed: Called on any thread when `view` has changed.
    /// - Throws: An error of the system if it gives no descriptors for the answers.
    public convenience init(place: String, changed: @escaping @Sendable () -> Void) throws {
        try self.init(place: place, directory: .ofThisSystem, changed: changed)
    }

    init(place: String, directory: ApplicationDirectory, changed: @escaping @Sendable () -> Void) throws(SystemError) {
        self.place = place
        self.directory = directory
        self.changed = changed
        replies = try ReplyBox()
    }

    /// Prevents other programs of the user from reading this process's memory. Call it first. In user mode it gains nothing, since the
    /// rooms are such programs.
    /// - Throws: An error of the system if the kernel refuses.
    public static func hideMemory() throws { try ProcessHardening.hide() }

    /// What to show now; nil for nothing.
    public var view: SheetView? { model.withLock { $0.view(now: MachineClock.boot) } }

    /// Answers with a passcode, which is copied to memory that is overwritten after its one use; the caller must erase its own bytes.
    /// `choice` is the number of one of the view's choices, if it has any.
    public func answer(_ passcode: UnsafeRawBufferPointer, choice: Int?, to request: Int) {
        guard !passcode.isEmpty else { return }
        let secret = SecretBytes(copying: passcode)
        let consent = model.withLock { model -> ConsentChoice? in
            let chosen = choice.flatMap { ConsentChoice(rawValue: Int64($0)) } ?? .once
            return model.offers(chosen, request) ? chosen : nil
        }
        guard beginAnswer(request, withPasscode: true) else { return }
        if let consent { replies.put(.consent(secret, consent), to: request) } else { replies.put(.passcode(secret), to: request) }
    }

    /// Answers with the current passcode and a new one, which was typed twice. Each is copied to memory that is overwritten after its one
    /// use; the caller must erase its own bytes. Returns false if the new passcode must be typed again, which the view then shows.
    public func answer(
        _ passcode: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, repeated: UnsafeRawBufferPointer, to request: Int
    ) -> Bool {
        guard !passcode.isEmpty, !new.isEmpty else { return false }
        let chosen = SecretBytes(copying: new)
        let again = SecretBytes(copying: repeated)
        guard model.withLock({ $0.accepts(new: chosen, repeated: again, request) }) else {
            changed()
            return false
        }
        let current = SecretBytes(copying: passcode)
        guard beginAnswer(request, withPasscode: true) else { return false }
        replies.put(.newPasscode(current: current, chosen), to: request)
        return true
    }

    /// Shows in the view the cost of guessing the new passcode; nothing for an empty one. Call it once for each passcode that was typed,
    /// since the user's other programs can read the view.
    public func estimate(_ new: UnsafeRawBufferPointer, for request: Int) {
        let sentence: String
        if new.isEmpty {
            sentence = ""
        } else {
            let typed = SecretBytes(copying: new)
            sentence = PasscodeEstimate.sentence(on: typed)
        }
        model.withLock { $0.estimate(sentence, request) }
        changed()
    }

    /// Calls `body` with the digits of the recovery key that the view shows, in lines; not at all if there is none.
    public func withRecoveryKey(_ request: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard model.withLock({ $0.isShowingKey(request) }) else { return }
        shownKey.withLock { key in
            switch key {
            case .some(let digits): digits.withUnsafeBytes { body($0) }
            case .none: break
            }
        }
    }

    /// Ends the view of a recovery key that the user has written down.
    public func recoveryKeySeen(_ request: Int) {
        guard model.withLock({ $0.endKey(request) }) else { return }
        shownKey.withLock { $0 = nil }
        changed()
        replies.put(.cancelled, to: request)
    }

    /// Handles the cancel button and a closed window: withdraws a notice, or answers that the user cancels.
    public func cancel(_ request: Int) {
        if model.withLock({ $0.dismissNotice(request) }) { return changed() }
        if beginAnswer(request) { replies.put(.cancelled, to: request) }
    }

    /// Handles the second button: the caller's fallback, or, if a passcode is accepted, the entry for it.
    public func fallBack(_ request: Int) {
        switch model.withLock({ $0.fallBack(request) }) {
        case .none: return
        case .entry: changed()
        case .answer: if beginAnswer(request) { replies.put(.fallback, to: request) }
        }
    }

    /// Shows that something was typed into the prompt that may have been meant for another window (`TypingGate`).
    public func typingIgnored(_ request: Int) {
        model.withLock { $0.ignoreTyping(request) }
        changed()
    }

    /// Reports whether the user is in front of this session, and sees it. While they do not, the agent is not registered with authd: a
    /// prompt on the screen moves to the next place.
    public func session(isActive: Bool) {
        let (isNews, left) = seat.withLock { seat -> (Bool, PromptAgent?) in
            defer { seat.isTaken = isActive }
            return (seat.isTaken != isActive, isActive ? nil : seat.agent)
        }
        guard isNews else { return }
        left?.end()
        seatChanged.signal()
    }

    /// Calls `used` on any thread when canary items were used that the user has not seen, now or earlier, for as long as the process runs.
    /// - Throws: An error of the system if no thread can be started.
    public func watchCanaries(_ used: @escaping @Sendable () -> Void) throws { try CanaryMonitor.start { _ in used() } }

    private func beginAnswer(_ request: Int, withPasscode: Bool = false) -> Bool {
        guard model.withLock({ $0.beginAnswer(request, withPasscode: withPasscode, now: MachineClock.boot) }) else { return false }
        changed()
        return true
    }

    /// Serves until it can no longer continue, which the view then explains; reconnects to restarted rooms. Calls `say` with each
    /// sentence for the log.
    public func run(say: (String) -> Void) {
        var said = ""
        var mayStart = true
        var backoff = Backoff(from: Self.returnPauses.shortest, to: Self.returnPauses.longest)
        while true {
            let began = MachineClock.monotonic
            let refusal = serve(mayStart: mayStart) {
                said = ""
                mayStart = false
                say("Prompts appear here.")
            }
            model.withLock { $0.removePrompt() }
            changed()
            let why = refusal.detail ?? "the service refused (\(refusal.reason))"
            if refusal.reason == .internalError {
                say("Prompts can no longer appear here: \(why).")
                model.withLock { $0.fail(why) }
                return changed()
            }
            if why != said { say("Prompts cannot appear here now: \(why).") }
            said = why
            let pause = backoff.pause(afterConnectionLasting: MachineClock.monotonic - began)
            // In another session this waits until the user is back.
            if seat.withLock({ $0.isTaken }) {
                _ = seatChanged.wait(timeout: .now() + .milliseconds(Int(pause)))
            } else {
                seatChanged.wait()
            }
        }
    }

    /// Serves until the connection ends, and returns why. Does not start a stopped service; otherwise `vauban stop` would have no effect.
    private func serve(mayStart: Bool, registered: () -> Void) -> Refusal {
        guard seat.withLock({ $0.isTaken }) else { return Self.away }
        do throws(Refusal) {
            let agent = try PromptAgent.sheet(of: try Service.current(), place: place, surface: self, startsService: mayStart)
            let isTaken = seat.withLock { seat in
                seat.agent = agent
                return seat.isTaken
            }
            defer { seat.withLock { $0.agent = nil } }
            guard isTaken else { return Self.away }
            registered()
            let refusal = agent.run()
            return seat.withLock { $0.isTaken } ? refusal : Self.away
        } catch {
            return error
        }
    }
}

extension SheetAgent: PromptSurface {
    package func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        // Looking it up reads every desktop entry, so do it once for each prompt, not for each of its forms.
        let entry = model.withLock { $0.isShowing(request.prompt) } ? nil : directory.entry(of: request.caller)
        let number = model.withLock { $0.show(request, entry, now: MachineClock.boot) }
        changed()
        while true {
            if withdrawal.isWithdrawn() { return .withdrawn }
            let updates = withdrawal.updates()
            if !updates.isEmpty {
                model.withLock { model in for update in updates { model.record(update) } }
                changed()
            }
            if let response = replies.take(number) {
                // The response may have been given to the previous form of this prompt.
                _ = model.withLock { $0.beginAnswer(number, withPasscode: false, now: MachineClock.boot) }
                return response
            }
            var pollers = [
                pollfd(fd: withdrawal.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: replies.descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            poll(&pollers, nfds_t(pollers.count), -1)
        }
    }

    package func show(_ recoveryKey: borrowing RecoveryKey) -> Bool {
        // Passed through an optional, since a closure cannot consume what it captures.
        var digits: SecretBytes? = recoveryKey.written(groupsPerLine: RecoveryKey.groups / 2, indent: 0)
        shownKey.withLock { $0 = digits.take() }
        let number = model.withLock { $0.showKey() }
        changed()
        while true {
            if case .some = replies.take(number) { return true }
            var poller = pollfd(fd: replies.descriptor.number, events: Int16(POLLIN), revents: 0)
            poll(&poller, 1, -1)
        }
    }

    package func handleOutcome(_ outcome: PromptOutcome) {
        model.withLock { $0.removePrompt() }
        changed()
        // The window is closed already; a lockout opens another.
        guard outcome == .failed, let service = try? Service.current(),
            let device = try? AuthenticationClient(service: service).status().device, device.secondsToWait > 0
        else { return }
        model.withLock { $0.lockOut(seconds: device.secondsToWait, now: MachineClock.boot) }
        changed()
    }
}
