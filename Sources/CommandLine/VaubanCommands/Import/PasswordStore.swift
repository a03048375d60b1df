import Foundation
import Glibc
import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The tree of `pass` (https://www.passwordstore.org): one file `NAME.gpg` per password, which gpg decrypts. The first line is the
/// password, or the address of one-time codes: `pass otp insert` writes a file of that line alone. The format of further lines is up to the
/// user; `login:`, `url:` and `otpauth://` are recognized.
package struct PasswordStore {
    let root: String
    package private(set) var files: [String] = []
    /// Files that are not passwords, with the reason.
    package private(set) var strange: [(path: String, why: String)] = []

    /// Files and folders of pass and git that contain no passwords: in any folder, and only at the top.
    private static let marks: Set<String> = [".git", ".gitattributes", ".gitignore", ".gpg-id", ".gpg-id.sig"]
    private static let marksAtTop: Set<String> = [".extensions", ".public-keys"]

    private static let filesMax = 100_000
    private static let depthMax = 64
    private static let userKeys: Set<String> = ["login", "username", "user"]
    private static let urlKeys: Set<String> = ["url", "uri", "website"]

    /// Opens the tree. Throws if it does not exist.
    package init(root: String) throws(Refusal) {
        self.root = root
        try walk("", depth: 0)
        guard !files.isEmpty else {
            throw Refusal(.badParameter, "\(SafeText.visible(root)) contains no .gpg files, so it is not a folder of pass")
        }
        // Set as pass does, so that gpg-agent can prompt on this terminal.
        if getenv("GPG_TTY") == nil, let terminal = ttyname(STDIN_FILENO) { setenv("GPG_TTY", terminal, 1) }
    }

    static func isFolder(_ path: String) -> Bool {
        var information = stat()
        return path != "-" && stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func walk(_ folder: String, depth: Int) throws(Refusal) {
        let path = folder.isEmpty ? root : "\(root)/\(folder)"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Refusal(.badParameter, "The folder \(SafeText.visible(path)) cannot be read")
        }
        for name in names.sorted() where !Self.marks.contains(name) && !(folder.isEmpty && Self.marksAtTop.contains(name)) {
            let relative = folder.isEmpty ? name : "\(folder)/\(name)"
            var information = stat()
            guard lstat("\(root)/\(relative)", &information) == 0 else {
                let code = errno
                // Bytes that are not UTF-8 were replaced, so no file has this name.
                let isAltered = code == ENOENT && name.contains("\u{FFFD}")
                let why = isAltered ? "its name is not UTF-8" : SystemError("look at it", code: code).description
                strange.append((relative, why))
                continue
            }
            switch information.st_mode & S_IFMT {
            case S_IFDIR:
                guard depth < Self.depthMax else { strange.append((relative, "it is nested too deeply")); continue }
                try walk(relative, depth: depth + 1)
            case S_IFREG where name.hasSuffix(".gpg") && name != ".gpg":
                files.append(relative)
                guard files.count <= Self.filesMax else {
                    throw Refusal(.badParameter, "More than \(Self.filesMax) passwords in the folder")
                }
            case S_IFLNK: strange.append((relative, "it is a link, which is not followed"))
            default: strange.append((relative, "it is not a password of pass"))
            }
        }
    }

    /// Returns one password, decrypted by gpg.
    func source(_ file: String) throws(SkipReason) -> SourceRecord {
        let content = try Self.opened("\(root)/\(file)")
        var source = SourceRecord(.file(file))
        let name = String(file.dropLast(".gpg".count))
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        source.name = (parts[0], parts.count > 1 ? parts[1] : "")
        source.title = name
        source.group = parts[0]
        source.hidesNotes = true
        source.origin = "pass"
        guard !Self.isBinary(content.secret) else {
            // Divided into lines, it would not be the same bytes any more.
            source.password = content
            source.changed.append("content: it is not text, so all of it is the secret")
            return source
        }
        Self.read(content.secret, &source)
        // Browser extensions for pass use the last part of the name as the user name if no line contains one.
        if source.username.isEmpty, parts.count > 1, source.urls.contains(where: { SourceURL($0)?.namesServer ?? false }) {
            source.username = name.split(separator: "/").last.map(String.init) ?? ""
        }
        return source
    }

    /// Whether the content has control characters other than tabs and line ends, such as a key that was stored as a file.
    private static func isBinary(_ content: borrowing SecretBytes) -> Bool {
        content.withUnsafeBytes { bytes in bytes.contains { byte in byte < 0x20 && ![0x09, 0x0A, 0x0D].contains(byte) } }
    }

    private static func read(_ content: borrowing SecretBytes, _ source: inout SourceRecord) {
        let notes = SecretBuilder()
        let hasLastNewline = content.withUnsafeBytes { $0.last == 0x0A }
        let end = content.count - (hasLastNewline ? 1 : 0)
        var position = 0
        var isFirst = true
        while position < end {
            let start = position
            let stop = content.withUnsafeBytes { bytes in bytes[start...].firstIndex(of: 0x0A) ?? end }
            position = stop + 1
            let hasReturn = stop > start && content.withUnsafeBytes { $0[stop - 1] == 0x0D }
            let line = SecretBox(content.part(start..<(hasReturn ? stop - 1 : stop)))
            if isFirst {
                if CodeAddress.isAddress(line) { source.codes.append(line) } else { source.password = line }
                isFirst = false
            } else if !take(line, &source) {
                if notes.count > 0 { notes.append(0x0A) }
                notes.append(line.secret)
            }
        }
        source.notes = notes.kept
    }

    /// Handles a line and returns whether its format was recognized.
    private static func take(_ line: SecretBox, _ source: inout SourceRecord) -> Bool {
        if CodeAddress.isAddress(line) { source.codes.append(line); return true }
        let colon = line.secret.withUnsafeBytes { $0.prefix(20).firstIndex(of: UInt8(ascii: ":")) }
        guard let colon, let key = line.secret.withUnsafeBytes({ String(validating: $0[..<colon], as: UTF8.self) })?.trimmed.lowercased(),
            let text = line.secret.withUnsafeBytes({ String(validating: $0[(colon + 1)...], as: UTF8.self) })?.trimmed, !text.isEmpty
        else { return false }
        if userKeys.contains(key), source.username.isEmpty { source.username = text; return true }
        if urlKeys.contains(key) { source.urls.append(text); return true }
        return false
    }

    /// Returns a file decrypted by gpg, with the options that pass uses. gpg may prompt for its passphrase.
    private static func opened(_ path: String) throws(SkipReason) -> SecretBox {
        let pid: pid_t, content: SecretBox?
        do throws(SystemError) {
            var pipe = try Pipe()
            let words = ["gpg", "--quiet", "--yes", "--batch", "--use-agent", "--decrypt", "--", path]
            pid = try ChildCommand.spawn("gpg", words, output: pipe.writing?.number)
            pipe.endWriting()
            // The pipe ends with this scope, so that gpg does not wait for a reader of the rest of a large file.
            content = try? SecretBox(SecretReader.everything(from: pipe.reading.number, max: SecretSource.bytesMax, keepsNewline: true))
        } catch {
            throw SkipReason(error.code == ENOENT ? "gpg is not installed" : "\(error)")
        }
        let status = ChildCommand.waitForEnd(of: pid)
        guard let content else { throw SkipReason("it is larger than 1 MiB") }
        guard status == 0 else { throw SkipReason("gpg could not open it") }
        return content
    }
}
