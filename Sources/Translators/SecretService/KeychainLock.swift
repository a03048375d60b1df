internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

/// The lock of the user's keychain: one for all collections but the one in memory.
final class KeychainLock: Sendable {
    private let authentication: AuthenticationClient

    init(_ service: Service) {
        authentication = AuthenticationClient(service: service, startsService: false)
    }

    var isLocked: Bool {
        get throws(Refusal) { try authentication.status().device.lock != .unlocked }
    }

    /// Locks the keychain. False where no passcode is set, and nothing can be locked.
    func lock() throws(Refusal) -> Bool {
        guard try authentication.status().device.passcodeIsSet else { return false }
        try authentication.lock()
        return true
    }

    /// Waits until the user has unlocked the keychain, in whichever way. False where the wait was cancelled or took too long.
    func waitForUnlock(
        for client: BusClient, _ cancellation: PromptCancellation, _ send: @Sendable (BusOutgoing) -> Void
    ) -> Bool {
        guard let wakeup = try? Wakeup() else { return false }
        cancellation.watch(wakeup)
        let deadline = MachineClock.monotonic + SecretServiceLimits.promptTime
        var isTold = false
        while !cancellation.isCancelled, MachineClock.monotonic < deadline {
            if (try? isLocked) == false { return true }
            if !isTold { send(Self.notification(for: client)) }
            isTold = true
            // No notice tells of an unlock, so the state is looked at again, which counts as no use of the keychain.
            _ = wakeup.wait(until: min(deadline, MachineClock.monotonic + SecretServiceLimits.lookPause))
        }
        return false
    }

    /// Tells the user on the desktop what a program waits for.
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
