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
        abstract: "Makes everything in the keychain unreadable for ever, and begins anew.",
        discussion: """
            The keys are destroyed, not only the rows: nothing brings the items back, no passcode and no recovery key. \
            It wants the passcode, and the word erase typed in full.

            Example:
              vauban erase
              vauban erase --forgotten           the passcode is not known any more
            """)

    @Flag(help: "Without the passcode: allowed where none is set, and after ten wrong tries in a row.")
    var forgotten = false

    @Flag(help: "Do not ask for the word; for scripts.")
    var yesEraseEverything = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let device = try session.authentication.status().device
        if !yesEraseEverything { try confirm(session, device) }
        if forgotten || !device.passcodeIsSet {
            try session.authentication.erase(nil)
        } else {
            let passcode: SecretBytes? = try Passcode.current(of: session)
            try session.authentication.erase(passcode)
        }
        say("The keychain is erased: its keys are destroyed. A new, empty one begins, without a passcode; run: vauban passcode set")
        do throws(Refusal) { try session.keychain.discard() } catch {
            say("Rows that nothing opens any more are still on the disk; to remove them, run vauban erase again.")
            throw error
        }
    }

    private func confirm(_ session: Session, _ device: DeviceStatus) throws {
        guard let terminal = session.user.terminal else {
            throw Refusal(
                .interactionNotAllowed, "there is no terminal to ask on; where nobody can be asked, say so: --yes-erase-everything")
        }
        let what = device.lock == .unlocked ? session.countItems().map { "\(count($0, "item")) with all secrets" } : nil
        terminal.write(
            """
            This makes \(what ?? "every item with its secret") unreadable for ever.
            No copy is kept, and neither the passcode nor the recovery key brings anything back.

            """)
        let word = terminal.readWord("To go on, type erase (anything else cancels): ")
        guard word == "erase" else { throw Refusal(.cancelled, "nothing was erased") }
    }
}

extension Session {
    /// How many items there are; nil when that cannot be known. Asks nobody.
    func countItems() -> Int? {
        try? ItemKind.allCases.reduce(0) { try $0 + described($1).count }
    }
}
