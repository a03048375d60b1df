import TestSupport
import Testing
import VaubanCommands
import VaubanSecretBytes

/// The vectors of exports of other password managers.
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
}
