// Executables that are signed, verified and freed of their signature (Specs/code-signing.md).

import CVaubanLinux
import Glibc
import VaubanCodeSigning
import VaubanLinuxHost
import VaubanRefusal

/// An executable and the content of its signature.
struct ExecutableFile {
    /// The path without symbolic links, since signing replaces the file and not a link to it.
    let path: String
    let findings: CodeFindings
    private let facts: stat
    private let isELF: Bool
    private let hasCapabilities: Bool

    private static let bytesMax = CodeReader.fileBytesMax

    init(_ named: String) throws(Refusal) {
        guard let real = realpath(named, nil) else { throw Self.refusal("open", path: named, code: errno) }
        path = String(cString: real)
        free(real)
        let (file, facts) = try Self.open(path)
        guard let findings = CodeReader.findings(ofFile: file.number, size: Int64(facts.st_size)) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) cannot be read, or changed while it was read")
        }
        var beginning = [UInt8](repeating: 0, count: 4)
        self.findings = findings
        self.facts = facts
        hasCapabilities = vauban_has_capabilities(file.number) != 0
        isELF = pread(file.number, &beginning, beginning.count, 0) == beginning.count && beginning == [0x7F, 0x45, 0x4C, 0x46]
    }

    /// Throws if a signature of the file would have no effect.
    func checkSignable() throws(Refusal) {
        let name = SafeText.visible(path)
        guard isELF else { throw Refusal(.badParameter, "\(name) is not an executable: only ELF files can be signed, not scripts") }
        guard findings.contentSize + Int64(SignatureArea.bytes) <= Self.bytesMax else {
            throw Refusal(.badParameter, "\(name) is too large: an executable that Vauban identifies has at most 256 MiB")
        }
        guard facts.st_mode & (S_ISUID | S_ISGID) == 0, !hasCapabilities else {
            throw Refusal(.badParameter, "\(name) has set-user-id or file capabilities, which a new file would not have; sign it before")
        }
    }

    /// Replaces the file by its content and the area that `body` returns for it, or by its content alone if that is nil.
    func rewrite(_ body: (_ contentDigest: [UInt8]) throws -> [UInt8]?) throws {
        let (file, now) = try Self.open(path)
        try checkUnchanged(now)
        let output = try NewFile(path: path, isShared: true)
        var rest = findings.contentSize
        var reader = CodeReader(size: rest)
        try Self.forEachChunk(of: file, at: path) { chunk throws(Refusal) in
            let content = UnsafeRawBufferPointer(rebasing: chunk.prefix(Int(min(rest, Int64(chunk.count)))))
            rest -= Int64(content.count)
            reader.read(content)
            try output.write(Array(content))
        }
        guard let copied = reader.findings() else { throw changed }
        if let area = try body(copied.digest) { try output.write(area) }
        try output.takeOwnership(of: file)
        try output.sync()
        // Signing may have taken a while: the user was prompted, and a build may have replaced the file.
        try checkUnchanged(try Self.open(path).facts)
        try output.name(replacing: true, mode: facts.st_mode & 0o777)
    }

    private func checkUnchanged(_ now: stat) throws(Refusal) {
        guard now.st_dev == facts.st_dev, now.st_ino == facts.st_ino, now.st_size == facts.st_size,
            now.st_mtim.tv_sec == facts.st_mtim.tv_sec, now.st_mtim.tv_nsec == facts.st_mtim.tv_nsec
        else { throw changed }
    }

    private var changed: Refusal { Refusal(.badParameter, "\(SafeText.visible(path)) was changed meanwhile; run the command again") }

    private static func open(_ path: String) throws(Refusal) -> (file: Descriptor, facts: stat) {
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw refusal("open", path: path, code: errno) }
        let file = Descriptor(number)
        var facts = stat()
        guard fstat(file.number, &facts) == 0 else { throw refusal("open", path: path, code: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw Refusal(.badParameter, "\(SafeText.visible(path)) is not a file") }
        guard Int64(facts.st_size) <= bytesMax else { throw Refusal(.badParameter, "\(SafeText.visible(path)) is larger than 256 MiB") }
        return (file, facts)
    }

    private static func forEachChunk(
        of file: Descriptor, at path: String, _ body: (UnsafeRawBufferPointer) throws(Refusal) -> Void
    ) throws(Refusal) {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let got = read(file.number, chunk.baseAddress, chunk.count)
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw refusal("read", path: path, code: errno) }
            if got == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: chunk[..<got]))
        }
    }

    private static func refusal(_ action: String, path: String, code: Int32) -> Refusal {
        Refusal(.badParameter, SystemError("\(action) \(SafeText.visible(path))", code: code).sentence)
    }
}
