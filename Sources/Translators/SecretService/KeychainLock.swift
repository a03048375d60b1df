internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

/// How a request to unlock the keychain ended.
enum UnlockOutcome: Sendable {
    case unlocked
    /// The user refused, the client dismissed the prompt, or it left the bus.
    case refused
    /// Nothing could show the prompt in time; with the error for the client.
    case notShown(BusError)
}

/// The lock of the user's keychain, which applies to all collections except the one in memory.
final class KeychainLock: Sendable {
    private let authentication: AuthenticationClient
    private let notices: UnlockNotices
    /// The requests to unlock, in the order in which they joined; one that nothing could show joins again at the end. Only the first
    /// prompts: after its unlock the others need no prompt, and those that were queued in authd would appear on the screen until the notice
    /// of the unlock withdraws them.
    private let queue = Mutex<[UnlockWait]>([])

    init(_ service: Service) {
        let authentication = AuthenticationClient(service: service, startsService: false)
        self.authentication = authentication
        notices = UnlockNotices(service) { (try? authentication.status()).map { $0.device.lock != .unlocked } }
    }

    var isLocked: Bool {
        get throws(Refusal) { try authentication.repeatedStatus().lock != .unlocked }
    }

    /// Whether the keychain is locked; nil if that cannot be read at the moment. Does not wait for a room that restarts.
    var isLockedNow: Bool? { (try? authentication.status()).map { $0.device.lock != .unlocked } }

    /// Locks the keychain. Returns false if no passcode is set, since the keychain then cannot be locked.
    func lock() throws(Refusal) -> Bool {
        guard try authentication.repeatedStatus().passcodeIsSet else { return false }
        try authentication.lock()
        return true
    }

    /// Prompts for the passcode, and waits until the user has unlocked the keychain in any way. Calls `shown` when the prompt appears,
    /// perhaps more than once. While nothing can show the prompt, waits for an agent for a duration after the call came, at `arrival`
    /// (`AgentWait`).
    func unlock(
        for client: BusClient, _ wait: UnlockWait, since arrival: UInt64, lasting duration: UInt64 = AgentWait.time,
        shown: @escaping @Sendable () -> Void = {},
        _ send: @Sendable (BusOutgoing) -> Void
    ) -> UnlockOutcome {
        guard (try? notices.add(wait)) != nil else {
            return .notShown(BusError(.limitsExceeded, "The system has no thread for the prompt"))
        }
        defer {
            notices.remove(wait)
            leaveQueue(wait)
        }
        let end = MachineClock.monotonic + SecretServiceLimits.promptTime
        var agentWait = AgentWait(since: arrival, lasting: duration)
        var isNotified = false
        var wasShown = false
        while let call = wait.beginCall() {
            let isFirst = joinQueue(wait)
            if canShowPrompt {
                shown()
                // Behind the prompt of another program, this one waits for the user too.
                if !isFirst { wasShown = true }
            }
            guard isFirst else {
                // Until the prompt appears, the client waits for its reply, and only as long as for an agent.
                guard let limit = wasShown ? end : agentWait.nextRequest(after: MachineClock.monotonic) else {
                    return .notShown(BusError(notShown: Refusal(.noPromptAgent)))
                }
                if case .deadline = wait.wakeup.wait(until: min(limit, end)), limit >= end { return .refused }
                continue
            }
            do throws(Refusal) {
                try authentication.unlockByPrompt(
                    reason: "for \(client.words), through the Secret Service",
                    waiting: { _ in
                        wasShown = true
                        shown()
                    }, cancellation: call)
                return .unlocked
            } catch {
                leaveQueue(wait)
                guard !wait.isUnlocked, !wait.isCancelled else { break }
                // These conditions can end without this prompt. Every other refusal is the user's answer.
                guard [.noPromptAgent, .interactionNotAllowed, .unavailable, .lockedOut, .passcodeNotSet].contains(error.reason) else {
                    return .refused
                }
                let now = MachineClock.monotonic
                if wasShown { agentWait.restart(at: now) }
                wasShown = false
                guard now < end, let next = agentWait.nextRequest(after: now, delaySeconds: error.secondsToWait) else {
                    return .notShown(BusError(notShown: error))
                }
                if !isNotified { send(Self.notification(for: client)) }
                isNotified = true
                _ = wait.wakeup.wait(until: min(next, end))
            }
        }
        return wait.isUnlocked ? .unlocked : .refused
    }

    /// Adds a request to the queue, unless it is there already. Returns whether it is the first.
    private func joinQueue(_ wait: UnlockWait) -> Bool {
        queue.withLock { queue in
            if !queue.contains(where: { $0 === wait }) { queue.append(wait) }
            return queue.first === wait
        }
    }

    /// Removes a request from the queue, and wakes the one that is the first now.
    private func leaveQueue(_ wait: UnlockWait) {
        let next: UnlockWait? = queue.withLock { queue in
            guard queue.first === wait else {
                queue.removeAll { $0 === wait }
                return nil
            }
            queue.removeFirst()
            return queue.first
        }
        next?.wakeup.signal()
    }

    /// Whether a prompt would appear, or wait behind another one, as far as is known before it is requested.
    private var canShowPrompt: Bool {
        guard let (device, places) = try? authentication.status() else { return false }
        // A delay concerns only the passcode that unlocks; a prompt for consent follows in an unlocked keychain.
        return !places.isEmpty && (device.lock == .unlocked || device.secondsToWait == 0)
    }

    /// Returns a desktop notification that names the waiting program.
    private static func notification(for client: BusClient) -> BusOutgoing {
        let summary = "Your keychain is locked"
        let body = "\(client.words) needs it. To unlock it, run in a terminal: vauban unlock. Then let the program try again"
        return .call(
            destination: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications", member: "Notify",
            [
                .string("Vauban"), .unsigned32(0), .string("dialog-password"), .string(summary), .string(body), .array("s", []),
                .array("{sv}", []), .signed32(-1),
            ])
    }
}
