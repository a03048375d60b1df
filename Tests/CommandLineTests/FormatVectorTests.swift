import TestSupport
import Testing
import VaubanCommands
import VaubanDER
import VaubanSecretBytes
import VaubanSignedNote
import VaubanSyncModel
import VaubanUserModel

/// The vectors of exports of other password managers, of the manifest of an installation, of what was
/// adopted, of the files and tokens of vauban sync, and of forwarded prompts.
@Suite struct FormatVectorTests {
    @Test("CSV of other password managers is read or refused as the vectors say") func csv() throws {
        try FormatVectors("csv").check { vector in
            let export = try CSVExport(SecretBytes(copying: vector.content))
            let first = try export.source(try #require(export.records.first))
            let parts: [String: String?] = [
                "title": first.title, "url": first.urls.first, "username": first.username, "password": first.password?.text,
                "notes": first.notes?.text,
            ]
            return parts.compactMapValues(\.self).filter { !$0.value.isEmpty }.merging(["records": "\(export.records.count)"]) { $1 }
        }
    }

    @Test("The manifest of an installation is parsed or refused as the vectors say") func manifests() throws {
        try FormatVectors("integrity").check { vector in
            let manifest = try IntegrityManifest(text: String(decoding: vector.content, as: UTF8.self))
            return Dictionary(uniqueKeysWithValues: manifest.entries.map { ($0.path, Self.words($0.kind)) })
        }
    }

    @Test("The list of moved items is read and written, or refused, as the vectors say") func adoptedItems() throws {
        try FormatVectors("adopted-items").check { vector in
            let items = try AdoptedItems.parse(vector.content)
            #expect(Array(AdoptedItems.text(of: items).utf8) == vector.content)
            return ["items": items.map(\.line).joined(separator: ", ")]
        }
    }

    @Test("Files of vauban sync are read or refused as the vectors say") func syncFiles() throws {
        try FormatVectors("sync-files").check { vector in
            let device = try vector.givenBytes("device")
            let member = CircleMember(device: device, name: "laptop", verification: try vector.givenBytes("verification"))
            let keys = try vector.given("keys").split(separator: " ").map { try #require([UInt8](hexadecimal: $0)) }
            let circle = CircleView(
                device: device, circle: try vector.givenBytes("circle"), number: 1, digest: [UInt8](repeating: 0, count: 32),
                epoch: Int64(keys.count), members: [member])
            let position = SyncPosition(
                number: try #require(Int64(try vector.given("number"))), chain: try vector.givenBytes("chain"))
            let ciphers = keys.map { FrameCipher(SecretBytes(copying: $0)) }
            let (file, epoch) = try SyncFile.opened(
                vector.content, of: member, for: vector.optionalBytes("companion"), after: position, in: circle, ciphers)
            var fields = [
                "epoch": "\(epoch)", "chain": hexadecimal(position.after(vector.content).chain),
                "records": file.records.map(Self.words).joined(separator: ", "),
                "seen": file.seen.map { "\(hexadecimal($0.key)) \($0.value.number)" }.sorted().joined(separator: ", "),
            ]
            if let statement = file.statement { fields["statement"] = "\(statement.number) \(hexadecimal(statement.digest))" }
            return fields
        }
    }

    @Test("Records in place of files of vauban sync are read or refused as the vectors say") func compactionRecords() throws {
        try FormatVectors("sync-compaction-records").check { vector in
            let device = try vector.givenBytes("device")
            let member = CircleMember(device: device, name: "laptop", verification: try vector.givenBytes("verification"))
            let keys = try vector.given("keys").split(separator: " ").map { try #require([UInt8](hexadecimal: $0)) }
            let circle = CircleView(
                device: device, circle: try vector.givenBytes("circle"), number: 1, digest: [UInt8](repeating: 0, count: 32),
                epoch: Int64(keys.count), members: [member])
            let ciphers = keys.map { FrameCipher(SecretBytes(copying: $0)) }
            let record = try CompactionRecord.opened(vector.content, of: member, in: circle, ciphers)
            return [
                "last": "\(record.last)", "end": "\(record.end)", "chains": record.chains.map(hexadecimal).joined(separator: " "),
            ]
        }
    }

    @Test("What devices say of the access logs is read or refused as the vectors say") func logHeads() throws {
        try FormatVectors("sync-log-heads").check { vector in
            let device = try vector.givenBytes("device")
            let member = CircleMember(device: device, name: "laptop", verification: try vector.givenBytes("verification"))
            let keys = try vector.given("keys").split(separator: " ").map { try #require([UInt8](hexadecimal: $0)) }
            let circle = CircleView(
                device: device, circle: try vector.givenBytes("circle"), number: 1, digest: [UInt8](repeating: 0, count: 32),
                epoch: Int64(keys.count), members: [member])
            let file = try LogHeadFile.opened(vector.content, of: member, in: circle, keys.map { FrameCipher(SecretBytes(copying: $0)) })
            let head = try #require(file.head)
            return [
                "time": "\(file.time)", "number": "\(head.number)", "chain": hexadecimal(head.chain),
                "seen": file.seen.map { "\(hexadecimal($0.key)) \($0.value.head?.number ?? 0)" }.sorted()
                    .joined(separator: ", "),
            ]
        }
    }

    @Test("What is forwarded of prompts is read or refused as the vectors say") func forwardedPrompts() throws {
        try FormatVectors("forwarded-prompts").check { vector in
            let device = try vector.givenBytes("device")
            let member = CircleMember(device: device, name: "server", verification: try vector.givenBytes("verification"))
            let keys = try vector.given("keys").split(separator: " ").map { try #require([UInt8](hexadecimal: $0)) }
            let circle = CircleView(
                device: device, circle: try vector.givenBytes("circle"), number: 1, digest: [UInt8](repeating: 0, count: 32),
                epoch: Int64(keys.count), members: [member])
            if try vector.given("kind") == "forwarder" {
                let file = try ForwarderFile.opened(vector.content, of: member, in: circle)
                return [
                    "epoch": "\(file.epoch)", "time": "\(file.time)", "card": hexadecimal(file.card.publicKey),
                    "verification": hexadecimal(file.verification),
                ]
            }
            let forwarder = ForwarderFile(
                epoch: circle.epoch, time: 0, card: EnclaveKeyCard(publicKey: device + device),
                verification: try vector.givenBytes("forwarder"))
            let cipher = forwarder.cipher(of: device, in: circle, FrameCipher(SecretBytes(copying: try #require(keys.last))))
            if try vector.given("kind") == "prompt" {
                guard let prompt = ForwardedPrompt.opened(vector.content, of: device, in: circle, under: cipher, by: forwarder) else {
                    return nil
                }
                let (number, time) = ("\(prompt.number)", "\(prompt.time)")
                return switch prompt.state {
                case .asked(let request): ["number": number, "time": time, "asked": hexadecimal(try request.encoded())]
                case .ended(let outcome): ["number": number, "time": time, "ended": "\(outcome.rawValue)"]
                }
            }
            guard let answer = ForwardedAnswer.opened(vector.content, for: device, cipher) else { return nil }
            let word = if case .passcode = answer.answer { "passcode" } else { "\(answer.answer)" }
            return ["challenge": hexadecimal(answer.challenge), "answer": word]
        }
    }

    @Test("Tokens of vauban sync are read and written, or refused, as the vectors say") func syncTokens() throws {
        try FormatVectors("sync-tokens").check { vector in
            let token = try JoinTokenText(parsing: SecretBytes(copying: vector.content))
            let content = token.content
            let written = token.text().withUnsafeBytes { Array($0) }
            #expect(written == vector.content)
            return [
                "circle": hexadecimal(content.circle), "member": hexadecimal(content.member.device),
                "memberName": content.member.name, "memberVerification": hexadecimal(content.member.verification),
                "token": hexadecimal(content.verification), "name": content.name, "expires": "\(content.expires)",
                "seed": token.seed.withUnsafeBytes { hexadecimal($0) },
            ]
        }
    }

    private static func words(_ record: SyncRecord) -> String {
        let stamp = "\(hexadecimal(record.name)) \(record.stamp.time) \(hexadecimal(record.stamp.device))"
        return switch record.content {
        case .put(_, let rest): "put \(stamp) \(record.changed) \(hexadecimal(rest))"
        case .deleted: "deleted \(stamp) \(record.changed)"
        }
    }

    private static func words(_ kind: IntegrityManifest.Kind) -> String {
        func words(_ access: IntegrityManifest.Access) -> String {
            let digits = String(access.mode, radix: 8)
            return String(repeating: "0", count: 4 - digits.count) + "\(digits) \(access.owner) \(access.group)"
        }
        return switch kind {
        case .file(let access, let digest): "file \(words(access)) \(digest)"
        case .folder(let access): "folder \(words(access))"
        case .link(let target): "link \(target)"
        }
    }
}
