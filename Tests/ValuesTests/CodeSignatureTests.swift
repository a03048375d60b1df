import Crypto
import Foundation
import FuzzHarness
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanDER

/// The signature area of an executable (Specs/code-signing.md).
@Suite struct CodeSignatureTests {
    private static let content = Array("\u{7F}ELF and what follows".utf8)
    private let key = P256.Signing.PrivateKey()

    @Test("Signed files are read or found damaged as the vectors say") func vectors() throws {
        try FormatVectors("code-signatures").check { vector in
            let at = try #require(Int(try vector.given("at"))), zeros = try #require(Int(try vector.given("zeros")))
            let data = vector.content[..<at] + [UInt8](repeating: 0, count: zeros) + vector.content[at...]
            let found = try #require(Self.read(Array(data)))
            switch found.signature {
            case .none: return ["signature": "none"]
            case .damaged: return nil
            case .valid(let code, let team):
                var fields = ["signature": "valid", "identifier": code.identifier, "team": team.text, "signed": "\(code.signed)"]
                fields["expires"] = code.expires.map(String.init)
                fields["entitlements"] = code.entitlements.map { String(decoding: $0, as: UTF8.self) }
                return fields
            }
        }
    }

    private static func read(_ file: [UInt8], by count: Int = 1 << 16, size: Int? = nil) -> CodeFindings? {
        var reader = CodeReader(size: Int64(size ?? file.count))
        for start in stride(from: 0, to: file.count, by: count) {
            file[start..<min(start + count, file.count)].withUnsafeBytes { reader.read($0) }
        }
        return reader.findings()
    }

    private func area(of content: [UInt8] = content) throws -> [UInt8] {
        let description = try CodeDescription(
            identifier: "com.acme.tool", size: Int64(content.count), digest: Array(SHA256.hash(data: content)), signed: 1
        ).encoded()
        let signature = try key.signature(for: SignedCode.message(for: description))
        return try SignatureArea.encode(
            SignedCode(
                key: Array(key.publicKey.derRepresentation), description: description, signature: Array(signature.derRepresentation)))
    }

    private func damage(_ file: [UInt8]) -> DamagedSignature? {
        if case .damaged(let damage)? = Self.read(file)?.signature { damage } else { nil }
    }

    @Test("A file has the same findings, whatever the size of the pieces in which it is read") func sizeOfPiecesHasNoEffect() throws {
        let file = Self.content + (try area())
        let whole = try #require(Self.read(file))
        guard case .valid(_, let team) = whole.signature else {
            Issue.record("the signature is \(whole.signature)")
            return
        }
        #expect(team == SignedCode.team(of: Array(key.publicKey.derRepresentation)) && whole.contentSize == Int64(Self.content.count))
        #expect(whole.digest == Array(SHA256.hash(data: file)) && whole.contentDigest == Array(SHA256.hash(data: Self.content)))
        for count in [1, 7, Self.content.count, Self.content.count + 1, SignatureArea.bytes, file.count - 1] {
            #expect(Self.read(file, by: count) == whole, "\(count)")
        }
    }

    @Test("A file whose size changes while it is read has no findings") func changedSizeHasNoFindings() throws {
        let file = Self.content + (try area())
        for size in [file.count - 1, file.count + 1, 0] { #expect(Self.read(file, size: size) == nil, "\(size)") }
    }

    @Test("A damaged signature has a reason") func damagedSignatureHasAReason() throws {
        let area = try area()
        #expect(damage(Self.content + [0] + area) == .otherContent)
        #expect(damage(Self.content + area + area) == .otherContent)
        #expect(damage(Self.content + (try self.area(of: [1, 2, 3]))) == .otherContent)
        var changed = area
        changed[SignatureArea.bytes - 21] = 1
        #expect(damage(Self.content + changed) == .malformed)
        // A file that lost bytes within its area has one that begins elsewhere.
        #expect(damage(Self.content + area.dropFirst()) == .malformed)
        let decoded = try #require(try SignatureArea.decode(area))
        let other = P256.Signing.PrivateKey()
        let resigned = SignedCode(
            key: Array(other.publicKey.derRepresentation), description: decoded.description, signature: decoded.signature)
        #expect(damage(Self.content + (try SignatureArea.encode(resigned))) == .badSignature)
        let noKey = SignedCode(key: [UInt8](repeating: 0, count: 91), description: decoded.description, signature: decoded.signature)
        #expect(damage(Self.content + (try SignatureArea.encode(noKey))) == .badKey)
    }

    @Test("A change of any byte of a signed file invalidates the signature") func changeOfAnyByteInvalidatesTheSignature() throws {
        let file = Self.content + (try area())
        let area = try #require(Self.read(file)?.code).encoded().count
        for index in Array(0..<(Self.content.count + area)) + Array((file.count - 20)..<file.count) {
            var changed = file
            changed[index] ^= 1
            if case .valid? = Self.read(changed)?.signature { Issue.record("byte \(index) does not count") }
        }
    }

    @Test("A file that is missing, special or too large has no findings") func specialFilesHaveNoFindings() throws {
        let folder = NSTemporaryDirectory() + "code-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
        // Nearly all of it takes no room on the disk.
        #expect(FileManager.default.createFile(atPath: "\(folder)/huge", contents: nil))
        #expect(truncate("\(folder)/huge", Int(CodeReader.fileBytesMax) + 1) == 0)
        for name in ["", "pipe", "huge", "absent"] { #expect(CodeReader.findings(ofFileAt: "\(folder)/\(name)") == nil, "\(name)") }
        #expect(FileManager.default.createFile(atPath: "\(folder)/empty", contents: Data()))
        #expect(CodeReader.findings(ofFileAt: "\(folder)/empty")?.signature == CodeFindings.Signature.none)
        let signed = Self.content + (try area())
        #expect(FileManager.default.createFile(atPath: "\(folder)/signed", contents: Data(signed)))
        #expect(CodeReader.findings(ofFileAt: "\(folder)/signed") == Self.read(signed))
    }

    @Test("A signature expires at its second") func signatureExpiresAtItsSecond() throws {
        func code(_ expires: Int64?) throws -> CodeDescription {
            try CodeDescription(identifier: "a", size: 0, digest: [UInt8](repeating: 0, count: 32), signed: 0, expires: expires)
        }
        #expect(try !code(100).isExpired(at: 99) && code(100).isExpired(at: 100))
        #expect(try !code(nil).isExpired(at: .max))
    }

    @Test("A description refuses values that no reader accepts") func invalidValuesAreRefused() throws {
        let digest = [UInt8](repeating: 0, count: 32)
        func isRefused(_ identifier: String = "a", digest: [UInt8] = digest, signed: Int64 = 0, expires: Int64? = nil, list: [UInt8]? = nil)
            -> Bool
        {
            (try? CodeDescription(identifier: identifier, size: 0, digest: digest, signed: signed, expires: expires, entitlements: list))
                == nil
        }
        #expect(!isRefused() && !isRefused(list: Array("<".utf8)))
        #expect(isRefused("") && isRefused(".a") && isRefused("a/b") && isRefused(String(repeating: "a", count: 129)))
        #expect(isRefused(digest: []) && isRefused(signed: -1) && isRefused(expires: .max))
        #expect(isRefused(list: []) && isRefused(list: Array("bplist00".utf8)))
        #expect(isRefused(list: [UInt8](repeating: 0x3C, count: 8193)))
    }

    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fuzz/Corpus/code")

    @Test("Stored inputs of the signature fuzzer break no invariant") func storedInputsBreakNoInvariant() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.corpus, includingPropertiesForKeys: nil)
        #expect((4...1000).contains(files.count))
        var decoded = 0
        for file in files where try CodeFuzzing.run([UInt8](try Data(contentsOf: file))) { decoded += 1 }
        // Inputs that are all refused at once would prove nothing.
        #expect(decoded >= 3)
        for seed in try CodeFuzzing.seeds() { #expect(try CodeFuzzing.run(seed)) }
    }
}
