import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// A picture that the user copied, such as a part of the screen. It stays in memory, since a QR code in it is a secret.
struct ClipboardPicture {
    /// The program that pastes it, with its arguments.
    private let command: [String]
    /// The longest time, in seconds, for the program that offers the picture. Without a limit, a hanging program would block this one.
    private static let secondsMax = 10
    /// The exit code of `timeout` after a timeout.
    private static let late: Int32 = 124

    /// Returns the clipboard of this desktop. xsel pastes only text.
    ///
    /// - Throws: `unsupported` if there is no desktop, or no program to reach its clipboard.
    static func here() throws(Refusal) -> ClipboardPicture {
        let desktops = try ClipboardTool.desktops()
        guard let command = desktops.map(pasting).first(where: { ProgramSearch.path(of: $0[0]) != nil }) else {
            throw Refusal(
                .unsupported, "No program to paste a picture; install \(desktops.contains(.wayland) ? "wl-clipboard" : "xclip")")
        }
        return ClipboardPicture(command: command)
    }

    private static func pasting(on desktop: ClipboardTool.Desktop) -> [String] {
        switch desktop {
        case .wayland: ["wl-paste", "--no-newline", "--type", "image/png"]
        case .x11: ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"]
        }
    }

    /// Reads the picture, which the program that offers it declares to be a PNG.
    ///
    /// - Throws: `Refusal` with `badParameter` if the clipboard has none, with `dataTooLarge` if it exceeds the limit, with `unavailable`
    ///   if it does not arrive in time.
    func read(bytesMax: Int) throws -> SecretBytes {
        var line = try Pipe()
        let words = ["timeout", "--foreground", String(Self.secondsMax)] + command
        let pid = try ChildCommand.spawn(words[0], words, output: line.writing?.number)
        line.endWriting()
        let picture: SecretBytes
        do {
            picture = try SecretReader.everything(from: line.reading.number, max: bytesMax, keepsNewline: true)
        } catch let refusal as Refusal {
            kill(pid, SIGTERM)
            ChildCommand.waitForEnd(of: pid)
            guard refusal.reason == .dataTooLarge else { throw refusal }
            throw Refusal(.dataTooLarge, "The clipboard's content is larger than \(bytesMax >> 20) MiB; copy only its QR code")
        }
        let status = ChildCommand.waitForEnd(of: pid)
        guard (status >> 8) & 0xFF != Self.late else {
            throw Refusal(.unavailable, "The program that offers the clipboard's content did not send it in \(Self.secondsMax) seconds")
        }
        guard status == 0, !picture.isEmpty else {
            throw Refusal(
                .badParameter,
                "\(command[0]) found no picture in the clipboard; copy the QR code as a picture, for example with a screenshot")
        }
        return picture
    }
}
