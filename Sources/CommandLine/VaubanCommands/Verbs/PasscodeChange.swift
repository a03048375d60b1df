import ArgumentParser
import VaubanAuthenticationClient
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct PasscodeChange: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the passcode; with --roll, also the keys that it protects.",
        discussion: """
            --passcode-fd reads the old passcode and --new-passcode-fd the new one, one line each; both may name the same \
            descriptor.

            A change alone re-encrypts no item: an old copy of the disk together with the old passcode still opens its items, and \
            items added later under the same keys. --roll creates new keys and re-wraps every item. You can interrupt it and \
            continue with vauban passcode roll.

            Example:
              vauban passcode change
              vauban passcode change --roll
            """)

    @Flag(help: "Create new class keys and wrap all items with them.")
    var roll = false

    @OptionGroup var user: UserOptions
    @OptionGroup var new: NewPasscodeOptions

    func run() throws {
        let client = try ServiceClient(user)
        try Passcode.requireSet(try client.authentication.status().device)
        let old = try Passcode.current(of: client, prompt: "Current passcode")
        if let descriptor = new.descriptor {
            let new = try SecretReader.line(from: descriptor, max: SealedPasscode.passcodeBytesMax)
            try client.authentication.changePasscode(from: old, to: new, rolls: roll)
        } else {
            let terminal = try Passcode.terminal(of: client)
            try PasscodeInput.setNew("New passcode", on: terminal) { new throws(Refusal) in
                try client.authentication.changePasscode(from: old, to: new, rolls: roll)
            }
        }
        LoginMemory.forget()
        say("The passcode is changed.")
        guard roll else { return }
        do throws(Refusal) {
            try Rewrapping(client).run()
        } catch {
            guard error.reason == .locked || error.reason == .beforeFirstUnlock else { throw error }
            say("The new keys are in place; to wrap the items with them: vauban unlock")
        }
    }
}
