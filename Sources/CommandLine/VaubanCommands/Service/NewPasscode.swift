import ArgumentParser
import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct RecoveryKeyOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Create a recovery key (default: only when you type the passcode).")
    var recoveryKey: Bool?
}

struct NewPasscodeOptions: ParsableArguments {
    @Option(
        name: .customLong("new-passcode-fd"),
        help: ArgumentHelp("Read the new passcode from this file descriptor (one line).", valueName: "n"))
    var descriptor: Int32?

    func given() throws -> SecretBytes? {
        guard let descriptor else { return nil }
        return try SecretReader.line(from: descriptor, max: SealedPasscode.passcodeBytesMax)
    }
}

/// The choice of a passcode and of its recovery key.
enum NewPasscode {
    /// Sets the first passcode, for `passcode set` and `setup`.
    static func setFirst(_ client: ServiceClient, _ recovery: RecoveryKeyOptions) throws {
        let given: SecretBytes? = client.user.hasPreparedPasscode ? try client.user.preparedPasscode() : nil
        let hasKey = try choose(given, client: client, recovery: recovery) { passcode, key throws(Refusal) in
            try client.authentication.setPasscode(passcode, recoveryKey: key)
        }
        say("The passcode is set. Remember it: without it\(hasKey ? " or the recovery key" : ""), nobody can open this keychain.")
        // The first passcode creates new keys, which must wrap the keys of existing items.
        Rewrapping(client).runSilently()
    }

    /// Reads the passcode from the descriptor or prompts for one, and passes it to `set` with a recovery key. Shows the key only after that
    /// succeeded, so that every key shown works. Returns whether there is one.
    @discardableResult
    static func choose(
        _ given: consuming SecretBytes?, client: ServiceClient, recovery: RecoveryKeyOptions,
        set: (borrowing SecretBytes, borrowing RecoveryKey?) throws(Refusal) -> Void
    ) throws -> Bool {
        let isGiven = given != nil
        let makesKey = recovery.recoveryKey ?? !isGiven
        let key: RecoveryKey? = makesKey ? RecoveryKey(random: try Entropy.secret(RecoveryKey.keyBytes)) : nil
        switch given {
        case .some(let passcode): try set(passcode, key)
        case .none:
            try PasscodeInput.setNew("New passcode", on: try Passcode.terminal(of: client)) { passcode throws(Refusal) in
                try set(passcode, key)
            }
        }
        LoginMemory.forget()
        try showRecoveryKey(key, to: client, onOutput: isGiven)
        return makesKey
    }

    /// Shows the user the recovery key: on the terminal, or for a script as the only line on standard output. Calls `whenShown` once it can
    /// be read there. Returns whether the user has it, as they confirm on the terminal.
    @discardableResult
    static func showRecoveryKey(
        _ key: borrowing RecoveryKey?, of purpose: RecoveryKeyPurpose = .passcode, to client: ServiceClient, onOutput: Bool,
        whenShown: () -> Void = {}
    ) throws -> Bool {
        let result: (isShown: Bool, isConfirmed: Bool)
        switch key {
        case .none: return true
        case .some(let key) where onOutput:
            let line = key.written(groupsPerLine: RecoveryKey.groups, indent: 0)
            let isWritten = line.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) } && syncOutput()
            if isWritten { whenShown() }
            result = (isWritten, isWritten)
        case .some(let key): result = client.user.terminal?.show(key, of: purpose, whenShown: whenShown) ?? (false, false)
        }
        guard result.isShown else {
            say(purpose.notShown)
            throw ExitCode(1)
        }
        return result.isConfirmed
    }
}
