import Testing
import VaubanDER
import VaubanKeychainModel

/// What is reported of another provider's items (Specs/secret-service.md, "Import").
@Suite struct TransferEntryTests {
    private let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes([.service: .text("mail")]))

    @Test("Every entry decodes to what was encoded") func entriesDecodeToWhatWasEncoded() throws {
        let entries: [TransferEntry] = [
            .provider("GNOME Keyring"), .notice("Work is locked."), .total(7), .collection(record), .item(place: "Work/Mail", record),
            .left(place: "Work/Mail", reason: "it is locked"), .failure("it failed", number: 40), .end, .picture("/tmp/a picture.png"),
        ]
        for entry in entries { #expect("\(try TransferEntry(derBytes: try entry.encoded()))" == "\(entry)") }
    }

    @Test("An entry with the parts of another kind is refused") func mixedEntriesAreRefused() throws {
        let item = try TransferEntry.item(place: "a", record).encoded()
        let end = try TransferEntry.end.encoded()
        for (entry, kind) in [(item, UInt8(8)), (item, 1), (end, 5), (end, 4), (end, 10), (end, 0)] {
            var altered = entry
            let place = try #require(altered.firstRange(of: [2, 1, entry == item ? 5 : 8])).lowerBound + 2
            altered[place] = kind
            #expect(throws: (any Error).self) { try TransferEntry(derBytes: altered) }
        }
        #expect(throws: (any Error).self) { try TransferEntry(derBytes: end + [0]) }
    }
}
