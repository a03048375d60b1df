import ArgumentParser
import Glibc
import VaubanRefusal

struct CodeShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a key as a QR code, for the authenticator of another device.",
        discussion: """
            You approve this with your passcode or a finger each time: whoever photographs the QR code can compute your codes for good. \
            A counter-based key (HOTP) cannot be shown, since two devices would give the same codes.

            Example:
              vauban code show github/anna
            """)

    @Flag(help: "Write a picture (PNG) to standard output in place of characters.")
    var png = false

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        if png, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("A terminal cannot show a picture; omit --png, or redirect the output")
        }
        try CodePicture.checkEncoder()
        let address = try CodeKeyring(client: try ServiceClient(user)).address(for: selection)
        try CodePicture.write(address, isPicture: png)
        if isatty(STDOUT_FILENO) == 1 { say("When you are done, clear the terminal and its scrollback: the QR code contains the key.") }
    }
}
