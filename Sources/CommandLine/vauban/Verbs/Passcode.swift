import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanSecretBytes

struct Passcode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sets or changes the passcode.",
        subcommands: [PasscodeSet.self, PasscodeChange.self])
}

struct PasscodeSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets the first passcode.",
        discussion: """
            \(PasscodeInput.rules)

            Example:
              vauban passcode set
            """)

    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        if try session.authentication.status().device.passcodeIsSet { throw Refusal(.passcodeAlreadySet) }
        if session.person.hasPreparedPasscode {
            let passcode = try session.person.preparedPasscode()
            try session.authentication.setPasscode(passcode)
        } else {
            let terminal = try Passcode.terminal(of: session)
            try PasscodeInput.setNew("New passcode", on: terminal) { passcode throws(Refusal) in try session.authentication.setPasscode(passcode) }
        }
        say("The passcode is set. Keep it in your head: without it nobody can open this keychain.")
    }
}

struct PasscodeChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Changes the passcode.",
        discussion: """
            With --passcode-fd the old passcode is one line, and the new one a line on --new-passcode-fd; both may name \
            the same descriptor.

            Example:
              vauban passcode change
            """)

    @OptionGroup var person: PersonOptions

    @Option(name: .customLong("new-passcode-fd"), help: ArgumentHelp("Read the new passcode, one line, from this file descriptor.", valueName: "n"))
    var newDescriptor: Int32?

    func run() throws {
        let session = try Session(person)
        guard try session.authentication.status().device.passcodeIsSet else {
            throw Refusal(.passcodeNotSet)
        }
        let old = try oldPasscode(session)
        if let newDescriptor {
            let new = try SecretReader.line(from: newDescriptor, max: SealedPasscode.passcodeBytesMax)
            try session.authentication.changePasscode(from: old, to: new)
        } else {
            let terminal = try Passcode.terminal(of: session)
            try PasscodeInput.setNew("New passcode", on: terminal) { new throws(Refusal) in
                try session.authentication.changePasscode(from: old, to: new)
            }
        }
        say("The passcode is changed.")
    }

    private func oldPasscode(_ session: Session) throws -> SecretBytes {
        if session.person.hasPreparedPasscode { return try session.person.preparedPasscode() }
        return try PasscodeInput.ask("Passcode until now (\(PromptText.cancelHint)): ", on: try Passcode.terminal(of: session))
    }
}

extension Passcode {
    static func terminal(of session: Session) throws(Refusal) -> Terminal {
        guard let terminal = session.person.terminal else {
            throw Refusal(.interactionNotAllowed, "there is no terminal to ask on; send the passcode along: --passcode-fd N")
        }
        return terminal
    }
}
