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

            A login password that is not the passcode is tried once, and once more over another service, but not again until one of \
            the two changes. With --retry the next login tries again.

            Example:
              vauban login --retry
            """)

    @Option(help: ArgumentHelp("Read the login password from this file descriptor (one line).", valueName: "n"))
    var passwordFd: Int32?

    @Option(help: ArgumentHelp("The day of the last password change, as in the shadow file.", valueName: "day"))
    var passwordDay: Int64?

    @Option(help: ArgumentHelp("The PAM service of the login.", valueName: "name"))
    var service: String?

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
            return print(LoginSentence.passwordChanged)
        }
        guard device.lock == .locked || device.lock == .beforeFirstUnlock else { return }
        if let passwordFd {
            let password = try SecretReader.line(from: passwordFd, max: SealedPasscode.passcodeBytesMax)
            if let sentence = try attempt(password, device: device, client: client) { print(sentence) }
        } else {
            print(LoginSentence.noPassword)
        }
    }

    /// Tries the password at most once. Returns the sentence to print if the keychain stays locked, or nil.
    private func attempt(_ password: borrowing SecretBytes, device: DeviceStatus, client: ServiceClient) throws -> String? {
        // Without this record every login would try the same wrong password.
        guard let memory = LoginMemory(), !password.isEmpty else { return LoginSentence.notTried }
        return try LoginAttempt(memory: memory, passwordDay: passwordDay, service: service, device: device).run {
            try client.authentication.unlock(password)
        }
    }

    /// Leaves the effective group that pam_vauban set to keep the user's other programs from tracing this process.
    private static func leaveGuardGroup() throws {
        let group = getgid()
        guard getegid() != group else { return }
        // This sets the saved group as well, since the real one is named.
        try SystemError.check(setregid(group, group), "leave the group that the login module gave")
    }
}
