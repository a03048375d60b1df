import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

struct Erase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Destroy all keys, so that nothing in the keychain can ever be read again.",
        discussion: """
            Destroys the keys and all items: neither the passcode nor the recovery key brings anything back. Asks for your passcode \
            and for the word erase. A new, empty keychain remains.

            Example:
              vauban erase
              vauban erase --forgotten           without the passcode
            """)

    @Flag(help: "Erase without the passcode: possible if none is set, or after ten wrong attempts in a row.")
    var forgotten = false

    @Flag(help: "Skip confirmation.")
    var yesEraseEverything = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let device = try client.authentication.status().device
        if !yesEraseEverything { try confirm(client, device) }
        if forgotten || !device.passcodeIsSet {
            try client.authentication.erase(nil)
        } else {
            let passcode: SecretBytes? = try Passcode.current(of: client)
            try client.authentication.erase(passcode)
        }
        say("The keychain is erased and its keys are destroyed. The new keychain is empty and has no passcode; run: vauban passcode set")
        do throws(Refusal) { try client.keychain.discard() } catch {
            say("Some unreadable data is still on the disk; to remove it, run vauban erase again.")
            throw error
        }
    }

    private func confirm(_ client: ServiceClient, _ device: DeviceStatus) throws {
        guard let terminal = client.user.terminal else {
            throw Refusal(
                .interactionNotAllowed, "No terminal to ask for confirmation; to confirm in advance: --yes-erase-everything")
        }
        let what = device.lock == .unlocked ? client.countItems().map { "\(count($0, "item")) and all secrets" } : nil
        terminal.write(
            """
            This destroys \(what ?? "all items and all secrets").
            There is no way back: neither the passcode nor the recovery key restores anything.

            """)
        let word = terminal.readWord("Type erase to confirm: ")
        guard word == "erase" else { throw Refusal(.cancelled, "nothing was erased") }
    }
}

extension ServiceClient {
    /// Returns the number of items, or nil if it is unknown. Shows no prompt.
    func countItems() -> Int? {
        try? ItemKind.allCases.reduce(0) { try $0 + described($1).count }
    }
}
