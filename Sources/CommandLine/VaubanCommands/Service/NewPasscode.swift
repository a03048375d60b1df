import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct RecoveryKeyOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Make a recovery key; by default where you are asked on a terminal.")
    var recoveryKey: Bool?
}

struct NewPasscodeOptions: ParsableArguments {
    @Option(
        name: .customLong("new-passcode-fd"),
        help: ArgumentHelp("Read the new passcode, one line, from this file descriptor.", valueName: "n"))
    var descriptor: Int32?

    func given() throws -> SecretBytes? {
        guard let descriptor else { return nil }
        return try SecretReader.line(from: descriptor, max: SealedPasscode.passcodeBytesMax)
    }
}

/// Choosing a passcode, and the recovery key that goes with it.
enum NewPasscode {
    /// The first passcode, for `passcode set` and for `setup`.
    static func setFirst(_ session: Session, _ recovery: RecoveryKeyOptions) throws {
        let given: SecretBytes? = session.user.hasPreparedPasscode ? try session.user.preparedPasscode() : nil
        let hasKey = try choose(given, session, recovery) { passcode, key throws(Refusal) in
            try session.authentication.setPasscode(passcode, recoveryKey: key)
        }
        say("The passcode is set. Keep it in your head: without it\(hasKey ? " or the recovery key" : "") nobody can open this keychain.")
        // The first passcode makes new keys; what was kept before it is wrapped by them.
        Rewrapping(session).runSilently()
    }

    /// Takes the passcode that was sent along, or asks for one, and hands it to `set` with a recovery key. Only when that
    /// has succeeded is the key shown: one that was shown is one that works. Answers whether there is one.
    @discardableResult
    static func choose(
        _ given: consuming SecretBytes?, _ session: Session, _ recovery: RecoveryKeyOptions,
        _ set: (borrowing SecretBytes, borrowing RecoveryKey?) throws(Refusal) -> Void
    ) throws -> Bool {
        let isGiven = given != nil
        let makesKey = recovery.recoveryKey ?? !isGiven
        let key: RecoveryKey? = makesKey ? RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes)) : nil
        switch given {
        case .some(let passcode): try set(passcode, key)
        case .none:
            try PasscodeInput.setNew("New passcode", on: try Passcode.terminal(of: session)) { passcode throws(Refusal) in
                try set(passcode, key)
            }
        }
        LoginMemory.forget()
        try hand(key, to: session, onOutput: isGiven)
        return makesKey
    }

    /// Gives the user their key: on the terminal, or as the one line on standard output for a script.
    static func hand(_ key: borrowing RecoveryKey?, to session: Session, onOutput: Bool) throws {
        let isHanded: Bool
        switch key {
        case .none: return
        case .some(let key) where onOutput:
            let line = key.written(groupsPerLine: RecoveryKey.groups, indent: 0)
            isHanded = line.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        case .some(let key): isHanded = session.user.terminal?.show(key) ?? false
        }
        guard isHanded else {
            say(
                """
                vauban: It is done, but the recovery key could not be shown, and nobody knows it; make another: vauban passcode \
                recovery-key
                """
            )
            throw ExitCode(1)
        }
    }
}
