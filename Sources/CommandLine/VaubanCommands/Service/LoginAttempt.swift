import VaubanLinuxHost
import VaubanRefusal
package import VaubanUserModel

/// The attempt of one login to unlock the keychain with its password, and what the next login learns of it.
package struct LoginAttempt {
    /// A login tries its password only while the user has this many attempts left.
    private static let triesLeftMin = 3

    private let memory: LoginMemory
    /// The day of the last password change; nil if it is unknown.
    private let passwordDay: Int64?
    /// The PAM service of the login; nil if it is unknown, or its name cannot be recorded.
    private let service: String?
    private let device: DeviceStatus

    package init(memory: LoginMemory, passwordDay: Int64?, service: String?, device: DeviceStatus) {
        self.memory = memory
        self.passwordDay = passwordDay
        self.service = LoginMemory.recordableService(service)
        self.device = device
    }

    /// Calls `unlock` at most once. Returns the sentence to print if the keychain stays locked, or nil.
    package func run(unlock: () throws -> Void) throws -> String? {
        guard let turn = try memory.turn() else { return nil }
        defer { withExtendedLifetime(turn) {} }
        // What the login of another service tried may have been another secret, such as the PIN of a smart card, so it is no reason not to
        // try this one, once; it stays recorded, so that it is not tried again.
        var ofOtherService = LoginMemory.Entry.nothing
        switch memory.entry() {
        case .differs(let day, let recorded) where passwordDay == nil || day == passwordDay:
            guard let service, let recorded, recorded != service else { return LoginSentence.differs }
            ofOtherService = .differs(passwordDay: day, service: recorded)
        // Tried again if the interrupted attempt was not counted, or if the password has changed.
        case .trying(let day, let lastWrong) where lastWrongNow != lastWrong && !isOther(day): return LoginSentence.cutOff
        case .unreadable where !device.failedAttempts.isEmpty: return LoginSentence.cutOff
        default: break
        }
        guard device.secondsToWait == 0, device.attemptsLeft >= Self.triesLeftMin else { return LoginSentence.fewTries }
        // Recorded before the attempt, since a login may be interrupted during it. Without the record, as on a full disk, none is made.
        do {
            try memory.keep(.trying(passwordDay: passwordDay, lastWrong: lastWrongNow))
        } catch {
            return LoginSentence.notTried
        }
        do {
            try unlock()
        } catch let refusal as Refusal where refusal.reason == .authenticationFailed {
            // If this fails, the record of the attempt remains, and keeps the next login from another one.
            try? memory.keep(.differs(passwordDay: passwordDay, service: ofOtherService == .nothing ? service : nil))
            return LoginSentence.differs
        } catch let refusal as Refusal where refusal.reason == .locked {
            // The password is the passcode. It has cleared the earlier wrong attempts, so if the record stayed, this attempt would look as
            // if it had been counted. An error here must not replace the sentence, which tells the user why the keychain is locked.
            try? memory.keep(ofOtherService)
            return LoginSentence.lockedMeanwhile
        }
        try memory.keep(ofOtherService)
        return nil
    }

    private var lastWrongNow: Int64? { device.failedAttempts.first?.date }

    /// Whether the login password was changed since this day.
    private func isOther(_ day: Int64?) -> Bool { passwordDay != nil && day != passwordDay }
}

/// What a login says about the keychain.
package enum LoginSentence {
    private static let closed = "Vauban: your keychain is still locked"
    static let noPassword =
        "\(closed): this login used no password (a fingerprint, a card or a key); run: vauban unlock"
    package static let differs =
        "\(closed): your login password is not its passcode; run: vauban unlock (to make them the same: vauban passcode change)"
    static let fewTries = "\(closed): too few attempts are left to try the login password; run: vauban unlock"
    static let notTried = "\(closed): this login did not try its password; run: vauban unlock"
    package static let lockedMeanwhile = "\(closed): it was locked while this login tried its password; run: vauban unlock"
    package static let cutOff =
        """
        \(closed): an earlier login was interrupted, so this one did not try its password; run: vauban unlock (to try at the next \
        login: vauban login --retry)
        """
    static let passwordChanged =
        """
        Vauban: your login password has changed, the passcode of your keychain has not; to change it, run: vauban passcode change
        """
}
