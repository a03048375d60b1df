import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanKeychainModel

/// What an import reports of an existing item with the same secret (Specs/import.md).
@Suite struct ImportDifferencesTests {
    private static let whole: [AttributeName: AttributeValue] = [
        .service: .text("mail"), .account: .text("anna"), .label: .text("Mail"), .comment: .text("a note"), .description: .text("login"),
        .generic: .data([1, 2]), .type: .number(7), .isInvisible: .number(1), .creationDate: .date(1), .modificationDate: .date(2),
    ]

    private func record(_ changes: [AttributeName: AttributeValue?] = [:], _ protection: ProtectionClass = .whenUnlocked) -> ItemRecord {
        var attributes = ItemAttributes(Self.whole)
        for (name, value) in changes { attributes[name] = value }
        return ItemRecord(kind: .genericPassword, attributes: attributes, protection: protection)
    }

    @Test("An item that has everything of the record is no difference, whatever its dates, owner and form") func equalItems() {
        let there = record([
            .accessGroup: .text("cli"), .creationDate: .date(3), .modificationDate: .date(4), .description: .data(Array("login".utf8)),
            .alias: .text("more"),
        ])
        #expect(ImportDifferences.of(record(), from: there).isEmpty)
    }

    @Test(
        "Each attribute that differs is reported",
        arguments: [
            (AttributeName.comment, AttributeValue.text("another note"), "notes: the existing item has different ones"),
            (.label, .text("Post"), "title: the existing item has different ones"),
            (.description, .text("key"), "description: the existing item has another one"),
            (.generic, .data([1, 3]), "generic data: the existing item has another one"),
            (.type, .number(8), "type: the existing item has another one"),
            (.isInvisible, .number(0), "invisible: the existing item has none"),
        ])
    func differentAttributes(name: AttributeName, value: AttributeValue, report: String) {
        #expect(ImportDifferences.of(record(), from: record([name: value])) == [report])
        #expect(ImportDifferences.of(record(), from: record([name: value]), ignoring: [name]).isEmpty)
    }

    @Test("An attribute that the existing item lacks is reported, and one that the record leaves empty is not") func missingAttributes() {
        let without = record([.generic: nil])
        #expect(ImportDifferences.of(record(), from: without) == ["generic data: the existing item has none"])
        #expect(ImportDifferences.of(without, from: record()).isEmpty)
        #expect(ImportDifferences.of(record([.description: .text("")]), from: record()).isEmpty)
    }

    @Test("A line about the origin alone is no difference") func originLine() {
        let origin = AttributeValue.text("imported from: passwords.csv")
        #expect(ImportDifferences.of(record([.comment: origin]), from: record()).isEmpty)
        #expect(ImportDifferences.of(record(), from: record([.comment: .text("a note\n\nimported from: passwords.csv")])).isEmpty)
    }

    @Test("Protection and access control are compared if they are the source's") func protection() throws {
        let always = record([:], .always)
        #expect(ImportDifferences.of(record(), from: always) == ["protection: the existing item has another one"])
        #expect(ImportDifferences.of(record(), from: always, comparesProtection: false).isEmpty)
        var guarded = record()
        guarded.accessControl = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        #expect(ImportDifferences.of(guarded, from: record()) == ["access control: the existing item has none"])
        #expect(ImportDifferences.of(record(), from: guarded) == ["access control: the existing item has another one"])
    }
}
