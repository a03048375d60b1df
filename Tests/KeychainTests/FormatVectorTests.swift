import Crypto
import EnclaveWire
import Keychain
import KeychainStore
import TestSupport
import Testing
import VaubanKeychainWire
import VaubanSecretBytes

/// The vectors of root's grants and of the halves of a row.
@Suite struct FormatVectorTests {
    @Test("Files of entitlements grant or are refused as the vectors say") func entitlements() throws {
        try FormatVectors("entitlements").check { vector in
            let application = try vector.given("application")
            guard let file = EntitlementTable.grants(in: vector.content) else { return nil }
            let teams = file.teams.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
            guard file.applications.contains(application) else { return ["applies": "no", "teams": teams] }
            return [
                "applies": "yes", "groups": file.grants.groups(adding: application).joined(separator: " "),
                "denies": file.grants.deniesKeychain ? "yes" : "no", "teams": teams,
            ]
        }
    }

    @Test("Records of the access log open or are refused as the vectors say") func accessLog() throws {
        try FormatVectors("access-log").check { vector in
            let series = try #require(Int64(try vector.given("series"))), number = try #require(Int64(try vector.given("number")))
            var key = SeriesKey(SecretBytes(copying: try vector.givenBytes("key")))
            for _ in series..<number { key = key.successor() }
            let row = LogRow(number: number, series: series, sealed: vector.content, chain: [])
            guard let record = key.open(row) else { return nil }
            let before = AccessLogEnd(number: number - 1, chain: try vector.givenBytes("chain"))
            var fields = [
                "began": "\(record.began)", "ended": "\(record.ended)", "action": "\(record.action.rawValue)",
                "outcome": "\(record.outcome.rawValue)", "unrecorded": "\(record.unrecorded)",
                "chain": hexadecimal(before.adding(row.link).chain),
                "items": record.items.map { item in
                    let mark = item.isCanary ? " canary" : ""
                    return "\(hexadecimal(item.item)) \(item.kind) \(item.count) \(item.owner) \(item.name)\(mark)"
                }.joined(separator: ", "),
            ]
            if let program = record.program {
                fields["application"] = program.application
                fields["path"] = program.path
                fields["throughCommandLine"] = program.throughCommandLine ? "yes" : "no"
                fields["commands"] = program.commands.joined(separator: " ")
            }
            if !record.parents.isEmpty { fields["parents"] = record.parents.joined(separator: ", ") }
            return fields
        }
    }

    @Test("The last uses in a series open or are refused as the vectors say") func seriesUses() throws {
        try FormatVectors("access-log-uses").check { vector in
            let series = try #require(Int64(try vector.given("series")))
            guard let uses = SeriesKey(SecretBytes(copying: try vector.givenBytes("key"))).openUses(vector.content, of: series) else {
                return nil
            }
            return [
                "items": uses.items.map { item in
                    "\(hexadecimal(item)) "
                        + LastUseKind.allCases.map { uses.number(of: $0, of: item).map { "\($0)" } ?? "-" }.joined(separator: " ")
                }.joined(separator: ", ")
            ]
        }
    }

    @Test("Halves of a row open or are refused as the vectors say") func halves() throws {
        try FormatVectors("halves").check { vector in
            let key = try vector.givenBytes("key"), binding = try vector.givenBytes("binding")
            guard try vector.given("half") == "secret" else {
                let metadata = try RowCipher.openMetadata(vector.content, key: SymmetricKey(data: key), binding: binding)
                return ["plaintext": hexadecimal(metadata)]
            }
            let value = try RowCipher.open(vector.content, key: SecretBytes(copying: key), binding: binding)
            let bytes = value.value().withUnsafeBytes { hexadecimal($0) }
            return ["hasValue": value.hasValue ? "yes" : "no", "value": bytes]
        }
    }
}
