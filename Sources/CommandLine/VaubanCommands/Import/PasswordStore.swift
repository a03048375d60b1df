import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The tree of `pass` (https://www.passwordstore.org): a file `NAME.gpg` each, which gpg opens. The first line is the password;
/// further lines are the user's own, of which `login:`, `url:` and `otpauth://` are understood.
struct PasswordStore {
    let root: String
    private(set) var files: [String] = []
    /// What is there and is no password.
    private(set) var strange: [(path: String, why: String)] = []

    private static let filesMax = 100_000
    private static let depthMax = 64
    private static let userKeys: Set<String> = ["login", "username", "user"]
    private static let urlKeys: Set<String> = ["url", "uri", "website"]

    /// Refused where there is no such tree.
    init(root: String) throws(Refusal) {
        self.root = root
        try walk("", depth: 0)
        guard !files.isEmpty else {
            throw Refusal(.badParameter, "there is no file NAME.gpg in \(SafeText.visible(root)), so it is no folder of pass")
        }
        // As pass does it, so that gpg's agent can ask on this terminal.
        if getenv("GPG_TTY") == nil, let terminal = ttyname(STDIN_FILENO) { setenv("GPG_TTY", terminal, 1) }
    }

    static func isFolder(_ path: String) -> Bool {
        var information = stat()
        return path != "-" && stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func walk(_ folder: String, depth: Int) throws(Refusal) {
        let path = folder.isEmpty ? root : "\(root)/\(folder)"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Refusal(.badParameter, "the folder \(SafeText.visible(path)) cannot be read")
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            let relative = folder.isEmpty ? name : "\(folder)/\(name)"
            var information = stat()
            guard lstat("\(root)/\(relative)", &information) == 0 else { continue }
            switch information.st_mode & S_IFMT {
            case S_IFDIR:
                guard depth < Self.depthMax else { strange.append((relative, "it lies too deep")); continue }
                try walk(relative, depth: depth + 1)
            case S_IFREG where name.hasSuffix(".gpg"):
                files.append(relative)
                guard files.count <= Self.filesMax else { throw Refusal(.badParameter, "there are more than \(Self.filesMax) passwords") }
            case S_IFLNK: strange.append((relative, "it is a link, which is not followed"))
            default: strange.append((relative, "it is no password of pass"))
            }
        }
    }

    /// One password, opened by gpg.
    func source(_ file: String) throws(RowError) -> SourceRecord {
        let content = try Self.opened("\(root)/\(file)")
        var source = SourceRecord(.file(file))
        let name = String(file.dropLast(".gpg".count))
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        source.name = (parts[0], parts.count > 1 ? parts[1] : "")
        source.title = name
        source.group = parts[0]
        source.hidesNotes = true
        Self.read(content.secret, &source)
        // What a browser's extension for pass takes: the last part of the name is the user where no line says one.
        if source.username.isEmpty, parts.count > 1, source.urls.contains(where: { SourceURL($0) != nil }) {
            source.username = name.split(separator: "/").last.map(String.init) ?? ""
        }
        return source
    }

    private static func read(_ content: borrowing SecretBytes, _ source: inout SourceRecord) {
        let notes = SecretBuilder()
        let end = content.count
        var position = 0
        var isFirst = true
        while position < end {
            let start = position
            let stop = content.withUnsafeBytes { bytes in bytes[start...].firstIndex(of: 0x0A) ?? end }
            position = stop + 1
            let hasReturn = stop > start && content.withUnsafeBytes { $0[stop - 1] == 0x0D }
            let line = SecretBox(content.part(start..<(hasReturn ? stop - 1 : stop)))
            if isFirst {
                source.password = line
                isFirst = false
            } else if !take(line, &source) {
                if notes.count > 0 { notes.append(0x0A) }
                notes.append(line.secret)
            }
        }
        source.notes = notes.kept
    }

    /// Whether the line is one that is understood.
    private static func take(_ line: SecretBox, _ source: inout SourceRecord) -> Bool {
        let isCode = line.secret.withUnsafeBytes { $0.starts(with: "otpauth://".utf8) }
        if isCode { source.codes.append(line); return true }
        let colon = line.secret.withUnsafeBytes { $0.prefix(20).firstIndex(of: UInt8(ascii: ":")) }
        guard let colon, let key = line.secret.withUnsafeBytes({ String(validating: $0[..<colon], as: UTF8.self) })?.trimmed.lowercased(),
            let text = line.secret.withUnsafeBytes({ String(validating: $0[(colon + 1)...], as: UTF8.self) })?.trimmed, !text.isEmpty
        else { return false }
        if userKeys.contains(key), source.username.isEmpty { source.username = text; return true }
        if urlKeys.contains(key) { source.urls.append(text); return true }
        return false
    }

    /// What gpg makes of a file, with the options that pass gives it. It may ask for its passphrase itself.
    private static func opened(_ path: String) throws(RowError) -> SecretBox {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
            throw RowError(SystemError("make a pipe", code: errno).description)
        }
        let pid: pid_t
        do throws(SystemError) {
            let words = ["gpg", "--quiet", "--yes", "--batch", "--use-agent", "--decrypt", "--", path]
            pid = try ChildCommand.spawn("gpg", words, output: ends[1])
            close(ends[1])
        } catch {
            for end in ends { close(end) }
            throw RowError(error.code == ENOENT ? "there is no gpg here, which opens it" : "\(error)")
        }
        let content = try? SecretBox(SecretReader.everything(from: ends[0], max: SecretSource.bytesMax, keepsNewline: false))
        close(ends[0])
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        guard let content else { throw RowError("it is larger than 1 MiB") }
        guard status == 0 else { throw RowError("gpg could not open it") }
        return content
    }
}
