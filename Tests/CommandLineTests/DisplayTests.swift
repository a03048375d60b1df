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
        #expect(ItemTable.lines(of: records, inColumns: true, withOwners: false) == ["a     unlocked  asks", "日本  unlocked"])
        #expect(
            ItemTable.lines(of: records, inColumns: false, withOwners: true) == [
                "a\tunlocked\tasks\towner: cli", "日本\tunlocked\towner: cli",
            ])
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
        #expect(try TimeLength.seconds(text, unit: 60, max: 86400) == seconds)
    }

    @Test(
        "What is not a duration, or too long, is refused",
        arguments: ["", "x", "-1s", "1.5h", "2d", "9223372036854775807d", "5 m", "min"])
    func invalidDurationsAreRefused(text: String) {
        #expect(throws: (any Error).self) { try TimeLength.seconds(text, unit: 1, max: 86400) }
    }

    private func record(_ service: String, _ control: AccessControl?) -> ItemRecord {
        let attributes = ItemAttributes([.service: .text(service), .accessGroup: .text(AccessGroup.commandLine)])
        return ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)
    }
}
