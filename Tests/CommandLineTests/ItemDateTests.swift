import Foundation
import Testing
import VaubanCommands
import VaubanKeychainModel

/// Dates that another program chose, at and beyond every limit.
@Suite struct ItemDateTests {
    /// Microseconds, and how their JSON begins: which day it was in the year 1 depends on the calendar.
    private static let dates: [(Int64, String)] = [
        (.min, "0001-01-0"), (-978_307_200_000_000, "1970-01-01T00:00:00Z"), (0, "2001-01-01T00:00:00Z"),
        (1_500_000, "2001-01-01T00:00:01Z"), (.max, "9999-12-31T23:59:59Z"),
    ]

    @Test("Every date of an item can be shown, as text and as JSON", arguments: dates)
    func everyDateIsShown(microseconds: Int64, json text: String) throws {
        let attributes = ItemAttributes([.service: .text("a"), .creationDate: .date(microseconds)])
        let description = ItemDescription(ItemRecord(kind: .genericPassword, attributes: attributes), deleted: microseconds)
        let lines = description.lines.filter { $0.hasPrefix("Created:") || $0.hasPrefix("Deleted:") }
        #expect(lines.count == 2 && !lines.contains { $0.hasSuffix("unknown time") })
        let json = try ItemDescription.json(description)
        #expect(json.contains("\"created\" : \"\(text)") && json.contains("\"deleted\" : \"\(text)"))
    }

    @Test("A date has the keychain's form, or none") func formOfDates() {
        for microseconds in [-1_000_000, 0, 1_500_000, 800_000_000_123_456] as [Int64] {
            #expect(Date(microseconds: microseconds).microseconds == microseconds)
        }
        for seconds in [1e13, -1e13, 1e300, .infinity, -.infinity, .nan] {
            #expect(Date(timeIntervalSinceReferenceDate: seconds).microseconds == nil, "\(seconds)")
        }
    }

    @Test(
        "An end of a certificate after the year 9999 is shown as that",
        arguments: [253_402_300_800, 9_300_000_000_000, .max] as [UInt64])
    func farEndsAreShown(seconds: UInt64) { #expect(Date.text(secondsSince1970: seconds) == "after the year 9999") }

    @Test("An end before that is shown as a day and a time in minutes", arguments: [0, 1_790_000_000, 253_402_000_000] as [UInt64])
    func endsHaveDayAndTime(seconds: UInt64) {
        let text = Date.text(secondsSince1970: seconds)
        #expect(text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}/) != nil, "\(text)")
    }
}
