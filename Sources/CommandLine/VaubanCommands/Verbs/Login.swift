import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// The part of a login that runs as the user: pam_vauban starts it in the login's process. It makes all decisions and prints at most one
/// line, which the login shows.
struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Unlock the keychain with the login password; run by pam_vauban.",
        discussion: """
            pam_vauban runs this at a login. To unlock the keychain yourself: vauban unlock

            A login password that is not the passcode is tried once, and not again until one of the two changes. With --retry the \
            next login tries again.

            Example:
              vauban login --retry
            """)

    /// A login tries its password only while the user has this many attempts left.
    private static let triesLeftMin = 3

    @Option(help: ArgumentHelp("Read the login password from this file descriptor (one line).", valueName: "n"))
    var passwordFd: Int32?

    @Option(help: ArgumentHelp("The day of the last password change, as in the shadow file.", valueName: "day"))
    var passwordDay: Int64?

    @Flag(help: "Report a login without a password.")
    var noPassword = false

    @Flag(help: "Report a change of the login password.")
    var passwordChanged = false

    @Flag(help: "Try the password of the next login, although an earlier one was wrong.")
    var retry = false

    func validate() throws {
        if !retry, passwordFd == nil, !noPassword, !passwordChanged {
            throw ValidationError("pam_vauban runs vauban login at a login; to unlock the keychain yourself: vauban unlock")
        }
        guard [passwordFd != nil, noPassword, passwordChanged, retry].filter(\.self).count == 1 else {
            throw ValidationError("Use one of --retry, --password-fd, --no-password and --password-changed")
        }
    }

    func run() throws {
        try Self.leaveGuardGroup()
        let client = try ServiceClient(CommandUser(mayBePrompted: false))
        guard client.service.mode == .system else {
            throw Refusal(.notAllowedHere, "vauban login needs the installed service, which is not installed here")
        }
        if retry {
            LoginMemory.forget()
            return say("The next login tries its password again.")
        }
        // A process that was traced before it became undumpable could leak the password.
        guard try ProcessHardening.number(of: "TracerPid") == 0 else {
            throw Refusal(.notAllowedHere, "A traced process cannot unlock the keychain")
        }
        let device = try client.authentication.status().device
        guard device.passcodeIsSet else { return }
        if passwordChanged {
            LoginMemory.forget()
            return print(Sentence.passwordChanged)
        }
        guard device.lock == .locked || device.lock == .beforeFirstUnlock else { return }
        if let passwordFd {
            let password = try SecretReader.line(from: passwordFd, max: SealedPasscode.passcodeBytesMax)
            if let sentence = try attempt(password, device: device, client: client) { print(sentence) }
        } else {
            print(Sentence.noPassword)
        }
    }

    /// Tries the password at most once. Returns the sentence to print if the keychain stays locked, or nil.
    private func attempt(_ password: borrowing SecretBytes, device: DeviceStatus, client: ServiceClient) throws -> String? {
        // Without this record every login would try the same wrong password.
        guard let memory = LoginMemory(), !password.isEmpty else { return Sentence.notTried }
        guard let turn = try memory.turn() else { return nil }
        defer { withExtendedLifetime(turn) {} }
        switch memory.entry() {
        case .differs(let day) where passwordDay == nil || day == passwordDay: return Sentence.differs
        // Tried again if the interrupted attempt was not counted, or if the password has changed.
        case .trying(let day, let lastWrong) where device.failedAttempts.first?.date != lastWrong && !isOther(day): return Sentence.cutOff
        case .unreadable where !device.failedAttempts.isEmpty: return Sentence.cutOff
        default: break
        }
        guard device.secondsToWait == 0, device.attemptsLeft >= Self.triesLeftMin else { return Sentence.fewTries }
        // Recorded before the attempt, since a login may be interrupted during it. Without the record, as on a full disk, none is made.
        do {
            try memory.keep(.trying(passwordDay: passwordDay, lastWrong: device.failedAttempts.first?.date))
        } catch {
            return Sentence.notTried
        }
        do throws(Refusal) {
            try client.authentication.unlock(password)
        } catch {
            guard error.reason == .authenticationFailed else { throw error }
            // If this fails, the record of the attempt remains, and keeps the next login from another one.
            try? memory.keep(.differs(passwordDay: passwordDay))
            return Sentence.differs
        }
        try memory.keep(.nothing)
        return nil
    }

    /// Whether the login password was changed since this day.
    private func isOther(_ day: Int64?) -> Bool { passwordDay != nil && day != passwordDay }

    /// Leaves the effective group that pam_vauban set to keep the user's other programs from tracing this process.
    private static func leaveGuardGroup() throws {
        let group = getgid()
        guard getegid() != group else { return }
        // This sets the saved group as well, since the real one is named.
        try SystemError.check(setregid(group, group), "leave the group that the login module gave")
    }

    private enum Sentence {
        private static let closed = "Vauban: your keychain is still locked"
        static let noPassword =
            "\(closed): this login used no password (a fingerprint or a key); run: vauban unlock"
        static let differs =
            "\(closed): your login password is not its passcode; run: vauban unlock (to make them the same: vauban passcode change)"
        static let fewTries = "\(closed): too few attempts are left to try the login password; run: vauban unlock"
        static let notTried = "\(closed): this login did not try its password; run: vauban unlock"
        static let cutOff =
            """
            \(closed): an earlier login was interrupted, so this one did not try its password; run: vauban unlock (to try at the next \
            login: vauban login --retry)
            """
        static let passwordChanged =
            """
            Vauban: your login password has changed, the passcode of your keychain has not; to change it, run: vauban passcode change
            """
    }
}
