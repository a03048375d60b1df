import ArgumentParser
import Testing
import VaubanCommands
import VaubanDER
import VaubanKeychainModel

/// How the command line lists the items of which the user has to select one.
@Suite struct SeveralMatchesTests {
    private func record(owner: String) -> ItemRecord {
        ItemRecord(
            kind: .genericPassword,
            attributes: ItemAttributes([.service: .text("mail"), .account: .text("anna"), .accessGroup: .text(owner)]))
    }

    @Test("Beside an item of another owner, the user's own is selected by its owner too") func ownersAreNamed() {
        let text = SeveralMatches(verb: "get", records: [record(owner: "unsigned"), record(owner: "cli")]).description
        let options = text.split(separator: "\n").dropFirst().map { $0.trimmingPrefix("  vauban get --service mail --account anna ") }
        #expect(options == ["--owner cli", "--owner unsigned"])
    }

    @Test("Items that no option distinguishes are named as such") func equalOptionsAreNamed() {
        let text = SeveralMatches(verb: "get", records: [record(owner: "cli"), record(owner: "cli")]).description
        #expect(text.contains("with equal attributes: use vauban-desktop"))
        #expect(!text.contains("--owner"))
        #expect(!text.contains("--attribute"))
    }

    private func stored(_ pairs: [(String, String)]) throws -> ItemRecord {
        var record = record(owner: "cli")
        let attributes = SecretServiceAttributes(attributes: pairs.map { SecretServiceAttributes.Pair($0.0, $0.1) })
        record.attributes[.secretServiceAttributes] = .data(try attributes.encoded())
        return record
    }

    private func options(_ records: [ItemRecord]) -> [String] {
        let lines = SeveralMatches(verb: "show", records: records).description.split(separator: "\n").dropFirst()
        return lines.map { String($0.trimmingPrefix("  vauban show --service mail --account anna")) }
    }

    @Test("Items that desktop programs stored under one name are named with the attribute that tells them apart")
    func attributesAreNamed() throws {
        let records = [
            try stored([("service", "mail"), ("username", "anna"), ("host", "one.example"), ("port", "1")]),
            try stored([("service", "mail"), ("username", "anna"), ("host", "two.example"), ("port", "1")]), record(owner: "cli"),
        ]
        #expect(options(records) == [" --attribute 'host='", " --attribute 'host=one.example'", " --attribute 'host=two.example'"])
    }

    @Test("If no single attribute tells items apart, each is named with all in which they differ") func severalAttributesAreNamed() throws {
        let records = try [("1", "x"), ("1", "y"), ("2", "x")].map { try stored([("port", $0.0), ("path", $0.1)]) }
        #expect(
            options(records) == [
                " --attribute 'path=x' --attribute 'port=1'", " --attribute 'path=x' --attribute 'port=2'",
                " --attribute 'path=y' --attribute 'port=1'",
            ])
    }

    @Test("An attribute selects the items with exactly its value, and without a value those that lack it") func attributesSelect() throws {
        let records = [try stored([("host", "one.example")]), try stored([("host", "One.example")]), record(owner: "cli")]
        func selected(_ words: [String]) throws -> [Bool] {
            let selection = try ItemSelection.parse(["mail/anna"] + words.flatMap { ["--attribute", $0] })
            #expect(selection.kinds == [.genericPassword])
            return records.map { selection.means($0) }
        }
        #expect(try selected(["host=one.example"]) == [true, false, false])
        #expect(try selected(["host="]) == [false, false, true])
        #expect(try selected(["service=mail", "username=anna"]) == [false, false, true])
        #expect(try selected(["host=one.example", "host="]) == [false, false, false])
        #expect(throws: (any Error).self) { try ItemSelection.parse(["mail/anna", "--attribute", "host"]) }
        #expect(throws: (any Error).self) { try ItemSelection.parse(["--server", "mail", "--attribute", "host=x"]) }
    }
}
