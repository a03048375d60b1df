import TestSupport
import Testing
import VaubanCommands
import VaubanSecretBytes

/// The vectors of exports of other password managers, and of the manifest of an installation.
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
