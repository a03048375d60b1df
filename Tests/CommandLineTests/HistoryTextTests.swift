import Foundation
import Testing
import VaubanAccessPolicy
import VaubanCommands
import VaubanKeychainModel
import VaubanKeychainWire

/// What `vauban history` shows of the attributes of earlier versions.
@Suite struct HistoryTextTests {
    private func record(_ attributes: [AttributeName: AttributeValue] = [:], _ protection: ProtectionClass = .whenUnlocked) -> ItemRecord {
        let names: [AttributeName: AttributeValue] = [
            .service: .text("github"), .account: .text("anna"), .accessGroup: .text(AccessGroup.commandLine), .modificationDate: .date(0),
        ]
        return ItemRecord(kind: .genericPassword, attributes: ItemAttributes(names.merging(attributes) { $1 }), protection: protection)
    }

    /// The lines without those that have dates.
    private func differences(_ earlier: ItemRecord, _ present: ItemRecord, inColumns: Bool = false) -> [String] {
        HistoryText.lines([ItemVersion(replaced: 1_000_000, record: earlier)], of: present, inColumns: inColumns).filter {
            !$0.contains("replaced ")
        }
    }

    @Test("A version without other attributes has one line, whatever its dates and protection")
    func sameAttributesAreNotShown() {
        let earlier = record([.creationDate: .date(1), .modificationDate: .date(2)], .afterFirstUnlock)
        let versions = [ItemVersion(replaced: 0, record: earlier), ItemVersion(replaced: 0, record: record())]
        let lines = HistoryText.lines(versions, of: record(), inColumns: false)
        #expect(lines.count == 2 && lines[0].hasPrefix("1\tchanged ") && lines[1].hasPrefix("2\tchanged "))
        #expect(lines[0].hasSuffix("\tafter-first-unlock"))
    }

    @Test("Attributes that the item has no longer, with another content, or only now are shown by their keys")
    func otherAttributesAreShown() {
        let earlier = record([.comment: .text("for work\nTags: bank, own"), .label: .text("one"), .isInvisible: .number(1)])
        let present = record([.comment: .text("for home"), .label: .text("one"), .description: .text("new"), .account: .text("bert")])
        #expect(
            differences(earlier, present) == [
                "\taccount: anna", "\tcomment: for work", "\ttags: bank, own", "\tisInvisible: yes", "\twithout description",
            ])
        #expect(differences(earlier, present, inColumns: true).first == "    account: anna")
        #expect(differences(present, earlier).suffix(2) == ["\twithout tags", "\twithout isInvisible"])
    }

    @Test("No line of an earlier comment looks like another version or attribute, and none controls the terminal")
    func linesOfCommentsAreIndented() {
        let earlier = record([.comment: .text("first\n2\tchanged\nlabel: x\u{1B}[2J")])
        #expect(
            differences(earlier, record()) == [
                "\tcomment: first", "\t\t2\\u{9}changed", "\t\tlabel: x\\u{1b}[2J",
            ])
    }

    @Test("JSON has the attributes of each version, and names those that differ from the item's")
    func documents() throws {
        let earlier = record([.comment: .text("for work")])
        let document = EarlierValueDocument(3, ItemVersion(replaced: 1_000_000, record: earlier), present: record([.label: .text("now")]))
        #expect(document.differs == ["comment", "label"])
        let json = try ItemDescription.json([document])
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        #expect(parsed[0]["number"] as? Int == 3 && parsed[0]["replaced"] as? String == "2001-01-01T00:00:01Z")
        #expect(parsed[0]["readable"] as? String == "unlocked" && parsed[0]["asks"] as? Bool == false)
        let attributes = try #require(parsed[0]["attributes"] as? [String: Any])
        #expect(attributes["comment"] as? String == "for work" && attributes["service"] as? String == "github")
        #expect(attributes["label"] == nil && attributes["changed"] as? String == "2001-01-01T00:00:00Z")
    }
}
