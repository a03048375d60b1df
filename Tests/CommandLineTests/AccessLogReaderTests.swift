import Testing
import VaubanCommands
import VaubanKeychainWire
import VaubanRefusal

/// How vauban log reads the log page by page (Specs/access-log.md).
@Suite struct AccessLogReaderTests {
    private func record(_ number: Int64, at date: Int64) -> FoundRecord {
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "cli", name: "github/anna")
        return FoundRecord(
            number: number,
            record: AccessRecord(began: date, ended: date, action: .read, outcome: .done, program: nil, items: [item]))
    }

    /// Returns a reader of these records, of which each page has two.
    private func reader(_ records: [FoundRecord], faults: [AccessLogFault] = []) -> AccessLogReader {
        AccessLogReader { (query) throws(Refusal) -> AccessLogPage in
            let page = records.filter { $0.number < query.before ?? .max }.suffix(2)
            return AccessLogPage(oldest: records.first?.number ?? 0, faults: query.verifies ? faults : [], records: page.reversed())
        }
    }

    @Test("A page that ends with an early date does not end a search since a time, because the clock may have been set")
    func clockChanges() throws {
        let dates: [Int64] = [900, 910, 100, 110, 120, 920]
        let records = dates.enumerated().map { record(Int64($0.offset) + 1, at: $0.element) }
        let found = try reader(records).uses(matching: AccessLogFilter(since: 500), limit: 50)
        #expect(found.uses.map(\.number) == [1, 2, 6])
    }

    @Test("A line names the programs that started the program, and JSON has their paths")
    func parents() throws {
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "cli", name: "github/anna")
        let git = AccessProgram(application: "program:/usr/bin/git", path: "/usr/bin/git", throughCommandLine: false, commands: [])
        let records = [["/usr/bin/bash", "", "/usr/sbin/ss\u{200B}hd"], ["", ""], []].enumerated().map { number, parents in
            FoundRecord(
                number: Int64(number) + 1,
                record: AccessRecord(began: 1, ended: 1, action: .read, outcome: .done, program: git, parents: parents, items: [item]))
        }
        let uses = try reader(records).uses(matching: AccessLogFilter(since: 0), limit: 50).uses
        #expect(uses.count == 3 && uses[0].text.hasSuffix("started by bash, ss\\u{200b}hd"))
        #expect(uses.dropFirst().allSatisfy { $0.text.hasSuffix("/usr/bin/git") })
        let shown = try uses.map { try $0.json() }
        #expect(shown[0].contains(#""parents":["/usr/bin/bash","","/usr/sbin/ss\u200bhd"]"#))
        #expect(shown[1].contains(#""parents":["",""]"#) && !shown[2].contains("parents"))
    }

    @Test("Unreadable records are reported once, as the verification found them")
    func unreadable() throws {
        let records = (1...6).map { (number: Int64) in
            (2...4).contains(number) ? FoundRecord(number: number, record: nil) : record(number, at: number)
        }
        let faults = [AccessLogFault(.unreadable, number: 2, last: 4)]
        let verified = try reader(records, faults: faults).uses(matching: AccessLogFilter(since: 0), limit: 50, verifies: true)
        let followed = try reader(records, faults: faults).uses(matching: AccessLogFilter(since: 0), limit: 50)
        #expect(verified.faults == followed.faults && verified.faults.count == 1)
        #expect(verified.faults.first?.hasPrefix("Log records 2 to 4 cannot be read: ") == true)
        #expect(verified.uses.map(\.number) == [1, 5, 6])
        // With a limit, only some of them were met.
        let last = try reader(records, faults: faults).uses(matching: AccessLogFilter(since: 0), limit: 2, verifies: true)
        #expect(last.faults == verified.faults && last.uses.map(\.number) == [5, 6])
    }
}
