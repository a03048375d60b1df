// For prompt agents that draw: programs of the user's that show what authd asks. Not for applications. An agent is not
// trusted, and nothing here lets it say yes: it can pass on a passcode, sealed to the enclave, or decline.

import Dispatch
import Glibc
import Synchronization
package import VaubanAuthenticationClient
import VaubanLinuxHost
internal import VaubanRefusal
import VaubanSecretBytes
package import VaubanUserModel

/// A sheet's side of the conversation with authd. `run` is called on a thread of its own; all else from any thread.
public final class SheetAgent: Sendable {
    private let place: String
    private let directory: ApplicationDirectory
    private let changed: @Sendable () -> Void
    private let model = Mutex(SheetModel())
    private let replies: ReplyBox
    /// Whether the user is before this session, and the agent that is registered while they are.
    private let seat = Mutex<(isTaken: Bool, agent: PromptAgent?)>((true, nil))
    private let seatChanged = DispatchSemaphore(value: 0)

    /// How often it is looked whether a service that is gone is back.
    private static let returnPause = DispatchTimeInterval.seconds(1)
    private static let away = Refusal(.nobodyToAsk, "this session is not the active one")

    /// - Parameters:
    ///   - place: what a waiting caller's terminal says of where the question is, such as `a window on your desktop`.
    ///   - changed: called on any thread when `view` has become another.
    public convenience init(place: String, changed: @escaping @Sendable () -> Void) throws {
        try self.init(place: place, directory: .ofThisSystem, changed: changed)
    }

    init(place: String, directory: ApplicationDirectory, changed: @escaping @Sendable () -> Void) throws(SystemError) {
        self.place = place
        self.directory = directory
        self.changed = changed
        replies = try ReplyBox()
    }

    /// No other program of the user can read this one's memory from now on. To be called first. In user mode the rooms
    /// are such programs, and nothing is gained.
    public static func hideMemory() throws { try ProcessHardening.hide() }

    /// What is to be shown now; nil: nothing.
    public var view: SheetView? { model.withLock { $0.view(now: MachineClock.boot) } }

    /// Answers with a passcode, which is copied to memory that is overwritten after its one use; the caller's bytes stay
    /// the caller's to erase. `choice` is the number of one of the view's choices, where it has any.
    public func answer(_ passcode: UnsafeRawBufferPointer, choice: Int?, to question: Int) {
        guard !passcode.isEmpty else { return }
        let secret = SecretBytes(copying: passcode)
        let consent = model.withLock { model -> ConsentChoice? in
            let chosen = choice.flatMap { ConsentChoice(rawValue: Int64($0)) } ?? .once
            return model.offers(chosen, question) ? chosen : nil
        }
        guard taken(question, withPasscode: true) else { return }
        if let consent { replies.put(.consent(secret, consent), to: question) } else { replies.put(.passcode(secret), to: question) }
    }

    public func cancel(_ question: Int) {
        if model.withLock({ $0.dismissed(question) }) { return changed() }
        if taken(question) { replies.put(.cancelled, to: question) }
    }

    /// The second button: the caller's own way out, or, where the passcode is a way, the entry for it.
    public func fallBack(_ question: Int) {
        switch model.withLock({ $0.fellBack(question) }) {
        case .none: return
        case .entry: changed()
        case .answer: if taken(question) { replies.put(.fallback, to: question) }
        }
    }

    /// Whether the user sits before this session. While they do not, nothing is asked here: what was on the screen goes to the next
    /// place, and authd is not told of this one.
    public func session(isActive: Bool) {
        let (isNews, left) = seat.withLock { seat -> (Bool, PromptAgent?) in
            defer { seat.isTaken = isActive }
            return (seat.isTaken != isActive, isActive ? nil : seat.agent)
        }
        guard isNews else { return }
        left?.end()
        seatChanged.signal()
    }

    private func taken(_ question: Int, withPasscode: Bool = false) -> Bool {
        guard model.withLock({ $0.answers(question, withPasscode: withPasscode, now: MachineClock.boot) }) else { return false }
        changed()
        return true
    }

    /// Serves for ever: joins rooms that come back. `say` gets a line for the log whenever that is worth one. Returns only
    /// where going on would be wrong, after the view has said why.
    public func run(say: (String) -> Void) {
        var said = ""
        var mayStart = true
        while true {
            let refusal = serve(mayStart: mayStart) {
                said = ""
                mayStart = false
                say("questions are asked here")
            }
            model.withLock { $0.settled() }
            changed()
            let why = refusal.detail ?? "the service refused (\(refusal.reason))"
            if refusal.reason == .internalFault {
                say(why)
                model.withLock { $0.broke(why) }
                return changed()
            }
            if why != said { say("questions cannot be asked here now: \(why)") }
            said = why
            // In another session this waits until the user is back.
            if seat.withLock({ $0.isTaken }) { _ = seatChanged.wait(timeout: .now() + Self.returnPause) } else { seatChanged.wait() }
        }
    }

    /// Serves until the connection ends, and answers why it did. What is stopped is not started again from here, or
    /// `vauban stop` would stop nothing.
    private func serve(mayStart: Bool, registered: () -> Void) -> Refusal {
        guard seat.withLock({ $0.isTaken }) else { return Self.away }
        do throws(Refusal) {
            let service = try Service.current()
            if !mayStart, let home = service.home, LauncherControl.running(home: home) == nil {
                return Refusal(.unavailable, "the keychain does not run")
            }
            let agent = try PromptAgent.sheet(of: service, place: place, surface: self)
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
    package func ask(_ question: PromptQuestion, withdrawal: any Withdrawal) -> PromptResponse {
        // Every entry of the desktop's is read for it, so once for a question, and not each time that it comes anew.
        let entry = model.withLock { $0.isShowing(question.prompt) } ? nil : directory.entry(of: question.caller)
        let number = model.withLock { $0.asked(question, entry, now: MachineClock.boot) }
        changed()
        while true {
            if withdrawal.isWithdrawn() { return .withdrawn }
            let updates = withdrawal.updates()
            if !updates.isEmpty {
                model.withLock { model in for update in updates { model.happened(update) } }
                changed()
            }
            if let response = replies.take(number) {
                // It may have been given to the form of the question before this one.
                _ = model.withLock { $0.answers(number, withPasscode: false, now: MachineClock.boot) }
                return response
            }
            var pollers = [
                pollfd(fd: withdrawal.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: replies.descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            poll(&pollers, nfds_t(pollers.count), -1)
        }
    }

    package func settled(_ outcome: PromptOutcome) {
        model.withLock { $0.settled() }
        changed()
        // The window is gone already; whether it was one passcode too many is worth another.
        guard outcome == .failed, let service = try? Service.current(),
            let device = try? AuthenticationClient(service: service).status().device, device.secondsToWait > 0
        else { return }
        model.withLock { $0.lockedOut(seconds: device.secondsToWait, now: MachineClock.boot) }
        changed()
    }
}
