import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// Reads a QR code with a camera. zbarcam shows the camera's picture in a window, and exits at the first code.
enum CodeCamera {
    /// Returns the text of the code.
    ///
    /// - Throws: `Refusal` with `unsupported` if zbarcam is not installed, with `unavailable` if there is no camera, and with `cancelled`
    ///   if the user closed the window first.
    static func texts() throws -> [SecretBox] {
        guard ProgramSearch.path(of: "zbarcam") != nil else {
            throw Refusal(.unsupported, "To read QR codes from a camera, install zbarcam (on Debian: zbar-tools)")
        }
        guard let device else {
            throw Refusal(.unavailable, "There is no camera (/dev/video*); take a photo of the code: vauban code scan PHOTO")
        }
        let hasDisplay = getenv("WAYLAND_DISPLAY") != nil || getenv("DISPLAY") != nil
        if !hasDisplay { say("Hold the QR code in front of the camera. To stop, press Ctrl-C.") }
        // A shell sets the limits: five minutes of processor time and 2 GiB of memory.
        let script = """
            ulimit -t 300; ulimit -v 2097152
            exec zbarcam --quiet --raw --oneshot --nodbus -Sdisable -Sqrcode.enable "$@"
            """
        var pipe = try Pipe()
        let arguments = ["sh", "-c", script, "sh"] + (hasDisplay ? [] : ["--nodisplay"]) + [device]
        let decoder = (pid: try ChildCommand.spawn("sh", arguments, output: pipe.writing?.number), output: pipe.reading)
        pipe.endWriting()
        do {
            return try CodePicture.texts(from: decoder, of: "what the camera showed")
        } catch let refusal as Refusal where refusal.reason == .badParameter {
            throw Refusal(.cancelled, "the camera saw no QR code")
        }
    }

    /// The camera of the lowest number; one camera may have several devices, of which the first has the pictures.
    private static var device: String? {
        (0..<64).map { "/dev/video\($0)" }.first { access($0, R_OK | W_OK) == 0 }
    }
}
