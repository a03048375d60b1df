import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

extension CodePicture {
    /// Throws `unsupported` if qrencode is not installed.
    static func checkEncoder() throws(Refusal) {
        guard ProgramSearch.path(of: "qrencode") != nil else {
            throw Refusal(.unsupported, "To show QR codes, install qrencode (on Debian: qrencode)")
        }
    }

    /// Writes a text as a QR code to standard output: as PNG, or with characters that are light and dark on every terminal. qrencode
    /// draws it in a separate process, which gets the text through a pipe.
    static func write(_ text: SecretBox, isPicture: Bool) throws {
        var pipe = try Pipe()
        let output = Descriptor(try SystemError.check(dup(STDOUT_FILENO), "duplicate standard output"))
        let form = isPicture ? ["-t", "PNG", "-s", "6"] : ["-t", isatty(STDOUT_FILENO) == 1 ? "ANSIUTF8" : "UTF8"]
        let pid = try ChildCommand.spawn(
            "qrencode", ["qrencode", "-l", "M", "-o", "-"] + form, input: pipe.reading.number, output: output.number)
        // An address is smaller than a pipe's buffer, so this does not wait for the reader.
        let isWritten = pipe.writing.map { end in text.secret.withUnsafeBytes { writeAll($0, to: end.number) } } ?? false
        pipe.endWriting()
        guard ChildCommand.waitForEnd(of: pid) == 0, isWritten else {
            throw Refusal(.unavailable, "The QR code could not be written; the key may be too long for one")
        }
    }
}
