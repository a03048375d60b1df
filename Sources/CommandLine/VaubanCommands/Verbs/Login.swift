import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// What a login does. The module in the login's process (pam_vauban) runs this as the user; what is decided is decided
/// here, and the one line on standard output is what the login shows them.
struct Login: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Opens the keychain with the password of a login; run by pam_vauban.",
        discussion: """
            A password that is not the passcode is tried once, and not again before one of the two is changed. If the \
            login did not notice that, --retry has the next login try again.

            Example:
              vauban login --retry
            """)

    /// A login leaves the user this many tries and a spare one for their own hand.
    private static let triesLeftMin = 3

    @Option(help: ArgumentHelp("Read the login's password, one line, from this file descriptor.", valueName: "n"))
    var passwordFd: Int32?

    @Option(help: ArgumentHelp("The day on which the login password was changed last, as in the shadow file.", valueName: "day"))
    var passwordDay: Int64?

    @Flag(help: "The login brought no password: say so, if the keychain is closed.")
    var noPassword = false

    @Flag(help: "The login password has just been changed.")
    var passwordChanged = false

    @Flag(help: "Have the next login try its password, though an earlier one was wrong.")
    var retry = false

    func validate() throws {
        guard [passwordFd != nil, noPassword, passwordChanged, retry].filter(\.self).count == 1 else {
            throw ValidationError("Say one of --retry, --password-fd, --no-password and --password-changed.")
        }
    }

    func run() throws {
        try Self.leaveGuardGroup()
        let session = try Session(CommandUser(mayBeAsked: false))
        guard session.service.mode == .system else {
            throw Refusal(.notAllowedHere, "a login opens the keychain of the installed service, and there is none here")
        }
        if retry {
            LoginMemory.forget()
            return say("The next login tries its password.")
        }
        // Whoever traced it before it hid would read the password with it.
        guard try ProcessHardening.number(of: "TracerPid") == 0 else { throw Refusal(.notAllowedHere, "this process is traced") }
        let device = try session.authentication.status().device
        guard device.passcodeIsSet else { return }
        if passwordChanged {
            LoginMemory.forget()
            return print(Sentence.passwordChanged)
        }
        guard device.lock == .locked || device.lock == .beforeFirstUnlock else { return }
        if let passwordFd {
            let password = try SecretReader.line(from: passwordFd, max: SealedPasscode.passcodeBytesMax)
            if let sentence = try attempt(password, device, session) { print(sentence) }
        } else {
            print(Sentence.noPassword)
        }
    }

    /// One try at most. Answers what is to be said where the keychain stays closed.
    private func attempt(_ password: borrowing SecretBytes, _ device: DeviceStatus, _ session: Session) throws -> String? {
        // Without a memory the same wrong password would be tried at every login.
        guard let memory = LoginMemory(), !password.isEmpty else { return Sentence.notTried }
        guard let turn = try memory.turn() else { return nil }
        defer { withExtendedLifetime(turn) {} }
        switch memory.entry() {
        case .differs(let day) where passwordDay == nil || day == passwordDay: return Sentence.differs
        // Repeated where it cannot have been counted as wrong, or where it is another password now.
        case .trying(let day, let lastWrong) where device.wrongGuesses.first?.date != lastWrong && !isOther(day): return Sentence.cutOff
        case .unreadable where !device.wrongGuesses.isEmpty: return Sentence.cutOff
        default: break
        }
        guard device.secondsToWait == 0, device.triesLeft >= Self.triesLeftMin else { return Sentence.fewTries }
        // Before the try, as the enclave counts before it compares: a login may be cut off within it.
        try memory.keep(.trying(passwordDay: passwordDay, lastWrong: device.wrongGuesses.first?.date))
        do throws(Refusal) {
            try session.authentication.unlock(password)
        } catch {
            guard error.reason == .authenticationFailed else { throw error }
            try memory.keep(.differs(passwordDay: passwordDay))
            return Sentence.differs
        }
        try memory.keep(.nothing)
        return nil
    }

    /// Whether the login's password was changed since the one of this day was tried.
    private func isOther(_ day: Int64?) -> Bool { passwordDay != nil && day != passwordDay }

    /// The module starts this under a strange effective group, which keeps the user's other programs from tracing it.
    private static func leaveGuardGroup() throws {
        let group = getgid()
        guard getegid() != group else { return }
        // This sets the saved group as well, since the real one is named.
        try SystemError.check(setregid(group, group), "leave the group that the login module gave")
    }

    private enum Sentence {
        private static let closed = "Vauban: your keychain is still locked"
        static let noPassword =
            "\(closed), since this login brought it no password (a fingerprint or a key does not); run: vauban unlock"
        static let differs =
            "\(closed), since your login password is not its passcode; run: vauban unlock (to make them the same: vauban passcode change)"
        static let fewTries = "\(closed): wrong passcodes were counted, so this login did not try; run: vauban unlock"
        static let notTried = "\(closed): this login did not try to open it; run: vauban unlock"
        static let cutOff =
            """
            \(closed): an earlier login was cut off while it tried your password, so this one did not; run: vauban unlock (to have the \
            next login try: vauban login --retry)
            """
        static let passwordChanged =
            """
            Vauban: the passcode of the keychain has not changed with the login password; to make them the same, run: vauban passcode \
            change
            """
    }
}
