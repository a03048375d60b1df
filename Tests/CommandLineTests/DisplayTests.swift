import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanKeychainModel

/// The output on a terminal: columns, times, and texts of foreign origin.
@Suite struct DisplayTests {
    @Test("Wide characters take two columns and combining ones none", arguments: [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("", 0)])
    func widthCountsColumns(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
        #expect(DisplayWidth.of(DisplayWidth.padded(text, to: 10)) == 10)
    }

    @Test("A table is aligned on a terminal and separated by tabs elsewhere")
    func tableIsAlignedOnTerminals() throws {
        let control = try AccessControl(protection: .whenUnlocked, flags: .userPresence)
        let records = ItemTable.sorted([record("日本", nil), record("a", control)])
        #expect(ItemTable.columns(of: records, withOwners: false).lines(inColumns: true) == ["a     unlocked  prompts", "日本  unlocked"])
        #expect(
            ItemTable.columns(of: records, withOwners: true).lines(inColumns: false) == [
                "a\tunlocked\tprompts\towner: cli", "日本\tunlocked\towner: cli",
            ])
    }

    @Test("An omitted field keeps its column on a terminal, and a column without fields takes no space")
    func omittedFieldsKeepTheirColumn() {
        let columns = TextColumns([["a", nil, "bb", nil, "x"], ["日本", nil, nil, nil, "y"], ["c", nil, "b"], [nil, nil, nil, nil, nil]])
        #expect(columns.lines(inColumns: true) == ["a     bb  x", "日本      y", "c     b", ""])
        #expect(columns.lines(inColumns: false) == ["a\tbb\tx", "日本\ty", "c\tb", ""])
        #expect(TextColumns([]).lines(inColumns: true).isEmpty)
    }

    @Test("A field that is very wide moves its own row only")
    func wideFieldsMoveTheirRowOnly() {
        let wide = String(repeating: "w", count: 100)
        let lines = TextColumns([[wide, "x"], ["a", "y"]]).lines(inColumns: true)
        #expect(lines == ["\(wide)  x", "a" + String(repeating: " ", count: 59) + "  y"])
        #expect(TextColumns.label("Mode", 13) == "Mode         " && TextColumns.label("日本", 3) == "日本 ")
    }

    @Test("Permissions in JSON have whole names and an order of their own")
    func permissionsHaveAnOrder() throws {
        let path = "/" + String(repeating: "p", count: 300)
        let permissions = [
            Permission(.team, subject: "T", object: "Acme\tby root"), Permission(.buildsIn, subject: path),
            Permission(.reads, subject: "b", object: "x"), Permission(.reads, subject: "a", object: "x"),
        ]
        let documents = PermissionDocument.sorted(permissions)
        #expect(documents.map(\.kind) == [.newBuilds, .reads, .reads, .team])
        #expect(documents.map(\.subject) == [path, "a", "b", "T"] && documents[0].object == nil)
        #expect(documents.map(\.byRoot) == [nil, nil, nil, true])
        #expect(try ItemDescription.json(documents).contains(#""object" : "Acme""#))
    }

    @Test("Invisible characters are escaped, in text and in JSON")
    func invisibleCharactersAreEscaped() {
        #expect(SafeText.visible("a\u{1B}[2J") == "a\\u{1b}[2J")
        #expect(SafeText.json("\"a\u{200B}\"\n") == "\"a\\u200b\"\n")
        #expect(SafeText.line("two\nlines", max: 20) == "two lines")
    }

    @Test(
        "Durations have units",
        arguments: [("10s", 10), ("15m", 900), ("15min", 900), ("2h", 7200), ("1d", 86400), ("7", 420), ("0", 0)] as [(String, Int64)])
    func durationsHaveUnits(text: String, seconds: Int64) throws {
        #expect(try DurationArgument.seconds(text, unit: 60, max: 86400) == seconds)
    }

    @Test(
        "What is not a duration, or too long, is refused",
        arguments: ["", "x", "-1s", "1.5h", "2d", "9223372036854775807d", "5 m", "min"])
    func invalidDurationsAreRefused(text: String) {
        #expect(throws: (any Error).self) { try DurationArgument.seconds(text, unit: 1, max: 86400) }
    }

    @Test("No line of a comment looks like another attribute, and only line breaks break lines")
    func linesOfCommentsAreIndented() {
        var record = record("a", nil)
        record.attributes[.comment] = .text("first\nOwner:  program\r\n\u{1B}[2J\n\nlast")
        let lines = ItemDescription(record).lines
        let indent = String(repeating: " ", count: 17)
        let start = lines.firstIndex(of: "Comment:         first") ?? 0
        #expect(
            Array(lines.dropFirst(start).prefix(5)) == [
                "Comment:         first", indent + "Owner:  program\\u{d}", indent + "\\u{1b}[2J", indent, indent + "last",
            ])
        #expect(lines.count { $0.hasPrefix("Owner:") } == 1)
    }

    private func record(_ service: String, _ control: AccessControl?) -> ItemRecord {
        let attributes = ItemAttributes([.service: .text(service), .accessGroup: .text(AccessGroup.commandLine)])
        return ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)
    }
}
