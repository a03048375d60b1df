import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct PasscodeChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Changes the passcode; with --roll also the keys under it.",
        discussion: """
            With --passcode-fd the old passcode is one line, and the new one a line on --new-passcode-fd; both may name \
            the same descriptor.

            A change alone touches no item. Whoever has an old copy of the disk and the old passcode can still open what \
            was kept until now, and what is kept later under the same keys; --roll makes new keys and wraps every item by \
            them. That can be broken off at any time: vauban passcode roll goes on.

            Example:
              vauban passcode change
              vauban passcode change --roll
            """)

    @Flag(help: "Make all keys of the classes anew, and wrap the items by them.")
    var roll = false

    @OptionGroup var user: UserOptions
    @OptionGroup var new: NewPasscodeOptions

    func run() throws {
        let session = try Session(user)
        try Passcode.requireSet(try session.authentication.status().device)
        let old = try Passcode.current(of: session, prompt: "Passcode until now")
        if let descriptor = new.descriptor {
            let new = try SecretReader.line(from: descriptor, max: SealedPasscode.passcodeBytesMax)
            try session.authentication.changePasscode(from: old, to: new, rolls: roll)
        } else {
            let terminal = try Passcode.terminal(of: session)
            try PasscodeInput.setNew("New passcode", on: terminal) { new throws(Refusal) in
                try session.authentication.changePasscode(from: old, to: new, rolls: roll)
            }
        }
        LoginMemory.forget()
        say("The passcode is changed.")
        guard roll else { return }
        do throws(Refusal) {
            try Rewrapping(session).run()
        } catch {
            guard error.reason == .locked || error.reason == .beforeFirstUnlock else { throw error }
            say("The keys are new; the items are wrapped by them once the keychain is open: vauban unlock")
        }
    }
}
