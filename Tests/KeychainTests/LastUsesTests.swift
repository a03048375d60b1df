import Foundation
import GRDB
import Keychain
import KeychainStore
import Testing
import VaubanKeychainWire

/// The last uses that are stored for each series of the access log, for `vauban show` (Specs/access-log.md).
@Suite struct LastUsesTests {
    private static let shell = Callers.commandLine()

    /// A log of many series, in which `anna` is read in the second one and in the fourth, and `bert` never.
    private func room(series: Int = 8) throws -> Room {
        let room = try Room()
        try room.add("anna", as: Self.shell)
        try room.add("bert", as: Self.shell)
        for number in 1...series {
            try room.restart()
            if number == 2 || number == 4 { _ = try room.get("anna", as: Self.shell) }
            try room.add("other \(number)", as: Self.shell)
            _ = try room.get("other \(number)", as: Self.shell)
            _ = try room.log(as: Self.shell)
        }
        return room
    }

    private func uses(_ room: Room, _ account: String) throws -> LastUses {
        let items = try room.log(as: Self.shell).flatMap(\.items)
        let item = try #require(items.first { $0.name == "s/\(account)" }).item
        return try room.lastUses(of: item, as: Self.shell)
    }

    private func count(_ room: Room, _ sql: String) throws -> Int {
        let queue = try DatabaseQueue(path: room.file)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    @Test("A search reads each ended series once, and later searches open only its last uses")
    func readOnce() throws {
        let room = try room()
        let (anna, bert) = (try uses(room, "anna"), try uses(room, "bert"))
        #expect(anna.read?.record?.items.map(\.name) == ["s/anna"] && anna.changed?.record?.action == .added && anna.coversAll)
        #expect(bert.read == nil && bert.changed?.record?.action == .added && bert.coversAll)
        #expect(try count(room, "SELECT count(*) FROM log_uses") == count(room, "SELECT count(*) FROM log_series") - 1)
        // Other records of the log are not read.
        let named = [anna.read, anna.changed, bert.changed].compactMap { $0.map { "\($0.number)" } }.joined(separator: ", ")
        let newest = try count(room, "SELECT max(first) FROM log_series")
        try room.restart()
        try room.sqlite("UPDATE log SET sealed = zeroblob(length(sealed)) WHERE number NOT IN (\(named)) AND number < \(newest)")
        #expect(try uses(room, "anna") == anna && uses(room, "bert") == bert)
    }

    @Test("A series that has grown is read again, and its later uses count")
    func later() throws {
        let room = try room()
        let before = try uses(room, "anna")
        _ = try room.get("anna", as: Self.shell)
        let after = try uses(room, "anna")
        #expect(try #require(after.read?.number) > (try #require(before.read?.number)) && after.changed == before.changed)
        try room.restart()
        try room.add("bert 2", as: Self.shell)
        #expect(try uses(room, "anna") == after)
        #expect(try uses(room, "anna") == after)
    }

    @Test(
        "Stored last uses that were altered, exchanged or removed are ignored, and the series is read again",
        arguments: [
            "UPDATE log_uses SET sealed = zeroblob(length(sealed))", "UPDATE log_uses SET sealed = x''", "DELETE FROM log_uses",
            "UPDATE log_uses SET sealed = (SELECT sealed FROM log_uses ORDER BY series DESC LIMIT 1)",
        ])
    func altered(_ change: String) throws {
        let room = try room()
        let (anna, bert) = (try uses(room, "anna"), try uses(room, "bert"))
        try room.restart()
        try room.sqlite(change)
        #expect(try uses(room, "anna") == anna && uses(room, "bert") == bert)
        #expect(try uses(room, "anna") == anna && uses(room, "bert") == bert)
    }

    @Test("If the record of the last use is missing or altered, a search finds the one before")
    func lost() throws {
        for change in ["DELETE FROM log", "UPDATE log SET sealed = zeroblob(length(sealed))"] {
            let room = try room()
            let last = try #require(try uses(room, "anna").read?.number)
            try room.restart()
            try room.sqlite("\(change) WHERE number = \(last)")
            let found = try uses(room, "anna")
            // Only a verification detects that a record is missing.
            #expect(try #require(found.read?.number) < last && found.coversAll == change.hasPrefix("DELETE"))
            #expect(try uses(room, "anna") == found)
        }
    }

    @Test(
        "A search reports that it does not cover the log if one of its series does not open",
        arguments: [
            "DELETE FROM log_series", "UPDATE log_series SET key = zeroblob(length(key))",
            "UPDATE log_series SET key = (SELECT key FROM log_series LIMIT 1)",
        ]
    )
    func lostKeys(_ change: String) throws {
        let room = try room()
        let (anna, bert) = (try uses(room, "anna"), try uses(room, "bert"))
        #expect(anna.coversAll && bert.coversAll)
        try room.restart()
        // The newest series that has ended, in which neither item was used.
        try room.sqlite(
            "DELETE FROM log_uses; \(change) WHERE first = (SELECT max(series) FROM log WHERE series < (SELECT max(series) FROM log))")
        let found = (try uses(room, "anna"), try uses(room, "bert"))
        #expect(found.0.read == anna.read && found.0.changed == anna.changed && !found.0.coversAll)
        #expect(found.1.changed == bert.changed && !found.1.coversAll)
    }

    @Test("Stored last uses are removed with their series")
    func removal() throws {
        let room = try room()
        _ = try uses(room, "bert")
        let kept = try count(room, "SELECT count(*) FROM log_uses")
        let last = try #require(try room.database.lastLogRow())
        try room.restart()
        // The old series are removed when the log is full.
        try room.sqlite("DELETE FROM log WHERE number < \(last.series)")
        let next = LogRow(number: 1000, series: 1000, sealed: last.sealed, chain: last.chain)
        try room.database.append(LogAddition(rows: [next], key: [1], anchored: 1000))
        #expect(kept > 3)
        #expect(try count(room, "SELECT count(*) FROM log_uses WHERE series NOT IN (SELECT first FROM log_series)") == 0)
        #expect(try count(room, "SELECT count(*) FROM log_uses") == 0)
    }
}
