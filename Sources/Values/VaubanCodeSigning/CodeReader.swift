// Reads an executable once, from its beginning to its end: its digest, and its signature (Specs/code-signing.md).

internal import Crypto
internal import Glibc
package import VaubanAccessPolicy

/// The verified facts about an executable.
package struct CodeFindings: Hashable, Sendable {
    package enum Signature: Hashable, Sendable {
        case none
        case damaged(DamagedSignature)
        case valid(CodeDescription, by: TeamIdentifier)
    }

    /// SHA-256 of the whole file.
    package let digest: [UInt8]
    package let signature: Signature
    /// The signature as it is in the file; nil if there is none, or if the area is malformed.
    package let code: SignedCode?
    /// SHA-256 of the file without its signature area, and its size; those of the whole file if it has no area.
    package let contentDigest: [UInt8]
    package let contentSize: Int64
}

/// Hashes a file of known size as its bytes arrive.
package struct CodeReader {
    private let size: Int64
    private var whole = SHA256()
    /// The hash up to the position at which a signature area would begin.
    private var content: SHA256?
    private var area: [UInt8] = []
    private var position: Int64 = 0

    package init(size: Int64) { self.size = size }

    /// The position at which a signature area would begin; nil in a file that is too small for one.
    private var areaBegin: Int64? { size >= Int64(SignatureArea.bytes) ? size - Int64(SignatureArea.bytes) : nil }

    package mutating func read(_ bytes: UnsafeRawBufferPointer) {
        guard let areaBegin else { return add(bytes) }
        let before = Int(max(0, min(areaBegin - position, Int64(bytes.count))))
        add(UnsafeRawBufferPointer(rebasing: bytes[..<before]))
        guard position >= areaBegin else { return }
        if content == nil { content = whole }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[before...])
        if area.count < SignatureArea.bytes { area.append(contentsOf: rest.prefix(SignatureArea.bytes - area.count)) }
        add(rest)
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        whole.update(bufferPointer: bytes)
        position += Int64(bytes.count)
    }

    /// Returns the findings, or nil if the file did not have the expected size.
    package consuming func findings() -> CodeFindings? {
        guard position == size else { return nil }
        let digest = Array(whole.finalize())
        let contentDigest = content.map { Array($0.finalize()) }
        func findings(_ signature: CodeFindings.Signature, _ code: SignedCode?, hasArea: Bool) -> CodeFindings {
            CodeFindings(
                digest: digest, signature: signature, code: code, contentDigest: hasArea ? contentDigest ?? digest : digest,
                contentSize: hasArea ? size - Int64(SignatureArea.bytes) : size)
        }
        do {
            guard let code = try SignatureArea.decode(area) else { return findings(.none, nil, hasArea: false) }
            return findings(Self.verify(code, digest: contentDigest, size: size - Int64(SignatureArea.bytes)), code, hasArea: true)
        } catch {
            return findings(.damaged(error), nil, hasArea: true)
        }
    }

    private static func verify(_ code: SignedCode, digest: [UInt8]?, size: Int64) -> CodeFindings.Signature {
        do {
            let description = try code.verifiedDescription()
            guard description.digest == digest, description.size == size else { return .damaged(.otherContent) }
            return .valid(description, by: code.team)
        } catch {
            return .damaged(error)
        }
    }
}

extension CodeReader {
    /// The largest program that Vauban identifies: reading a larger one would take longer than callers wait.
    package static let fileBytesMax: Int64 = 512 << 20
    private static let chunkBytes = 64 << 10

    /// Opens and reads a file. Returns nil if it is not a regular file, is too large, or cannot be read.
    package static func findings(ofFileAt path: String) -> CodeFindings? {
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var facts = stat()
        guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, Int64(facts.st_size) <= fileBytesMax else { return nil }
        return findings(ofFile: number, size: Int64(facts.st_size))
    }

    /// Reads an open file from its offset to its end, through one small buffer, with no other system call than `read`. Returns nil if the
    /// file cannot be read or does not have the size.
    package static func findings(ofFile number: Int32, size: Int64) -> CodeFindings? {
        var reader = CodeReader(size: size)
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let got = Glibc.read(number, &chunk, chunk.count)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { return nil }
            if got == 0 { return reader.findings() }
            chunk.withUnsafeBytes { reader.read(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
            guard reader.position <= size else { return nil }
        }
    }
}
