internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

/// The lock of the user's keychain, which applies to all collections except the one in memory.
final class KeychainLock: Sendable {
    private let authentication: AuthenticationClient
    private let notices: UnlockNotices

    init(_ service: Service) {
        let authentication = AuthenticationClient(service: service, startsService: false)
        self.authentication = authentication
        notices = UnlockNotices(service) { (try? authentication.status()).map { $0.device.lock != .unlocked } }
    }

    var isLocked: Bool {
        get throws(Refusal) { try authentication.repeatedStatus().lock != .unlocked }
    }

    /// Locks the keychain. Returns false if no passcode is set, since the keychain then cannot be locked.
    func lock() throws(Refusal) -> Bool {
        guard try authentication.repeatedStatus().passcodeIsSet else { return false }
        try authentication.lock()
        return true
    }

    /// Prompts for the passcode, and waits until the user has unlocked the keychain in any way. Returns false if the user refused, or if
    /// the wait was cancelled or timed out.
    func unlock(for client: BusClient, _ wait: UnlockWait, _ send: @Sendable (BusOutgoing) -> Void) -> Bool {
        guard (try? notices.add(wait)) != nil else { return false }
        defer { notices.remove(wait) }
        let deadline = MachineClock.monotonic + SecretServiceLimits.promptTime
        var isNotified = false
        while MachineClock.monotonic < deadline, let call = wait.beginCall() {
            do throws(Refusal) {
                try authentication.unlockByPrompt(reason: "for \(client.words), through the Secret Service", cancellation: call)
                return true
            } catch {
                guard !wait.isUnlocked, !wait.isCancelled else { break }
                // These conditions can end without this prompt, and a notice reports their end. Every other refusal is the user's answer.
                guard [.noPromptAgent, .unavailable, .lockedOut, .passcodeNotSet].contains(error.reason) else { return false }
            }
            if !isNotified { send(Self.notification(for: client)) }
            isNotified = true
            _ = wait.wakeup.wait(until: deadline)
        }
        return wait.isUnlocked
    }

    /// Returns a desktop notification that names the waiting program.
    private static func notification(for client: BusClient) -> BusOutgoing {
        let summary = "Your keychain is locked"
        let body = "\(client.words) needs it. To unlock it, run in a terminal: vauban unlock"
        return .call(
            destination: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications", member: "Notify",
            [
                .string("Vauban"), .unsigned32(0), .string("dialog-password"), .string(summary), .string(body), .array("s", []),
                .array("{sv}", []), .signed32(-1),
            ])
    }
}
