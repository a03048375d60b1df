import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The texts of the QR codes in a picture. zbarimg decodes it in a separate process with limited memory and time.
enum CodePicture {
    static let bytesMax = 32 << 20
    private static let textBytesMax = 1 << 20
    /// The number of leading bytes that identify the format.
    private static let headBytes = 16

    /// Returns the picture's format by its first bytes. It is passed to zbarimg explicitly, so that zbarimg does not interpret the file as
    /// a script, an address or a list of other files.
    private static func format(_ head: [UInt8]) -> String? {
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "png" }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return "jpeg" }
        if head.starts(with: "GIF8".utf8) { return "gif" }
        if head.starts(with: "BM".utf8) { return "bmp" }
        if head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBP".utf8) { return "webp" }
        return nil
    }

    /// Returns the text of each code in the order in which they were found; at least one.
    ///
    /// - Throws: `Refusal` with `badParameter` if the file is not a picture or has no QR code, with `unsupported` if zbarimg is not
    ///   installed.
    static func texts(inFile path: String) throws -> [SecretBox] {
        let shown = SafeText.visible(path)
        try checkDecoder()
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Refusal(.badParameter, SystemError("open \(shown)", code: errno).sentence) }
        return try texts(in: Descriptor(file), called: shown)
    }

    /// Returns the text of each code that is on the screen, as for a file.
    static func textsOnScreen(cancellation: CallCancellation? = nil, warn: (String) -> Void) throws -> [SecretBox] {
        try checkDecoder()
        return try texts(in: try ScreenPicture.take(cancellation: cancellation, warn: warn), called: "the picture of the screen")
    }

    private static func texts(in picture: Descriptor, called shown: String) throws -> [SecretBox] {
        let file = picture.number
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw Refusal(.badParameter, "\(shown) is not a picture file")
        }
        guard facts.st_size <= bytesMax else {
            throw Refusal(.dataTooLarge, "\(shown) is larger than \(bytesMax >> 20) MiB; crop the picture to its QR code")
        }
        var head = [UInt8](repeating: 0, count: headBytes)
        let got = pread(file, &head, head.count, 0)
        let decoder = try start(file, try format(Array(head.prefix(max(got, 0))), of: shown))
        return try texts(from: decoder, of: shown)
    }

    /// Returns the text of each code in the picture that the clipboard has, as for a file.
    static func texts(inClipboard clipboard: ClipboardPicture) throws -> [SecretBox] {
        try checkDecoder()
        let picture = try clipboard.read(bytesMax: bytesMax)
        let shown = "the clipboard's content"
        let format = try format(picture.withUnsafeBytes { Array($0.prefix(headBytes)) }, of: shown)
        // A decoder that exits early is detected by its output.
        signal(SIGPIPE, SIG_IGN)
        let decoder: (pid: pid_t, output: Descriptor)
        do {
            let (started, writing) = try startWithPipe(format)
            _ = picture.withUnsafeBytes { writeAll($0, to: writing.number) }
            decoder = started
        }
        return try texts(from: decoder, of: shown)
    }

    /// Starts the decoder with the reading end of a pipe, which this process closes, and returns the writing end.
    private static func startWithPipe(_ format: String) throws -> (decoder: (pid: pid_t, output: Descriptor), writing: Descriptor) {
        let ends = try Pipe.ends()
        return (try start(ends.reading.number, format), ends.writing)
    }

    private static func checkDecoder() throws(Refusal) {
        guard ProgramSearch.path(of: "zbarimg") != nil else {
            throw Refusal(.unsupported, "To read QR codes, install zbarimg (on Debian: zbar-tools)")
        }
    }

    private static func format(_ head: [UInt8], of shown: String) throws(Refusal) -> String {
        guard let format = format(head) else {
            throw Refusal(.badParameter, "\(shown) is not a picture in PNG, JPEG, GIF, BMP or WebP")
        }
        return format
    }

    /// Starts zbarimg, which reads the picture from a descriptor and writes one text per line.
    private static func start(_ picture: Int32, _ format: String) throws -> (pid: pid_t, output: Descriptor) {
        var pipe = try Pipe()
        // A shell sets the limits, because setting them here would limit this process: 15 s of processor time and 2 GiB of memory. Without
        // maps and disk, a large picture is refused in place of being written to a temporary file.
        let script = """
            ulimit -t 15; ulimit -v 2097152
            export MAGICK_MAP_LIMIT=0 MAGICK_DISK_LIMIT=0
            exec zbarimg --quiet --raw --nodbus -Sdisable -Sqrcode.enable "$1"
            """
        let pid = try ChildCommand.spawn(
            "sh", ["sh", "-c", script, "sh", "\(format):-"], input: picture, output: pipe.writing?.number)
        pipe.endWriting()
        return (pid, pipe.reading)
    }

    static func texts(from decoder: (pid: pid_t, output: Descriptor), of shown: String) throws -> [SecretBox] {
        let output: SecretBytes
        do {
            output = try SecretReader.everything(from: decoder.output.number, max: textBytesMax, keepsNewline: true)
        } catch {
            kill(decoder.pid, SIGKILL)
            ChildCommand.waitForEnd(of: decoder.pid)
            throw error
        }
        ChildCommand.waitForEnd(of: decoder.pid)
        let texts = lines(of: output)
        guard !texts.isEmpty else { throw Refusal(.badParameter, "No QR code was found in \(shown); crop the picture to the code") }
        return texts
    }

    private static func lines(of output: borrowing SecretBytes) -> [SecretBox] {
        var texts: [SecretBox] = []
        var start = 0
        for end in 0...output.count where end == output.count || output.withUnsafeBytes({ $0[end] == 0x0A }) {
            if end > start { texts.append(SecretBox(output.part(start..<end))) }
            start = end + 1
        }
        return texts
    }
}
