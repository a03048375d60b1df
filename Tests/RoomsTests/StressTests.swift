// Many concurrent clients: nothing acknowledged is lost or incomplete, and every call ends.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// Sixteen writers and sixteen readers, each with its own connections, for ten seconds; `make stress` gives them a minute. The client ends
/// an unanswered call with a refusal after its timeout, and any refusal that the work does not explain fails the test.
@Suite("Stress", .serialized)
struct StressTests {
    private static let writers = 16
    private static let readers = 16
    private static let seconds = getenv("VAUBAN_STRESS_SECONDS").flatMap { UInt64(String(cString: $0)) } ?? 10

    private struct Account {
        /// The newest number whose write was acknowledged, and the newest that was begun.
        var acknowledged = 0
        var begun = 0
    }

    private final class Record: Sendable {
        let accounts = Mutex<[Account]>(Array(repeating: Account(), count: StressTests.writers))
        let faults = Mutex<[String]>([])
        /// The writers and readers that ended early, since a call of theirs was left unanswered.
        let unanswered = Mutex(0)
        let calls = Mutex<[Int]>([0, 0])
        /// The writer that created the item that all of them try to create, by round.
        let makers = Mutex<[Int: Int]>([:])

        func fault(_ text: String) { faults.withLock { if $0.count < 20 { $0.append(text) } } }
        func called(_ kind: Int) { calls.withLock { $0[kind] += 1 } }
    }

    @Test("Sixteen writers and sixteen readers lose no acknowledged value, and every call ends")
    func sixteenWritersAndSixteenReaders() throws {
        var (rooms, record) = try work()
        // A halted machine leaves calls unanswered in one run, and rooms that lose replies do in each.
        for _ in 0..<2 where record.unanswered.withLock({ $0 }) > 0 { (rooms, record) = try work() }
        #expect(record.unanswered.withLock { $0 } == 0)
        try expectNothingLost(record, in: rooms)
    }

    /// Has all of them work in new rooms until the time is over.
    private func work() throws -> (Rooms, Record) {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for writer in 0..<Self.writers { try rooms.add("stress", "counter \(writer)", "0") }
        let record = Record()
        let end = MachineClock.monotonic + Self.seconds * 1_000_000_000
        let group = DispatchGroup()
        for number in 0..<Self.writers + Self.readers {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                let client = KeychainClient(service: rooms.service)
                do {
                    if number < Self.writers {
                        try Self.write(as: number, client: client, record: record, until: end)
                    } else {
                        try Self.read(as: number, client: client, record: record, until: end)
                    }
                } catch let refusal as Refusal where refusal.isUnanswered {
                    record.unanswered.withLock { $0 += 1 }
                } catch { record.fault("\(number < Self.writers ? "writer" : "reader") \(number): \(error)") }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        // Every call ends by itself: all of them together need no more than one call's timeout beyond the end.
        #expect(group.wait(timeout: .now() + Double(Self.seconds) + HangLimit.seconds) == .success, "somebody still waits")
        for fault in record.faults.withLock({ $0 }) { Issue.record("\(fault)") }
        return (rooms, record)
    }

    private func expectNothingLost(_ record: Record, in rooms: Rooms) throws {
        // The last acknowledged value is what exists.
        for writer in 0..<Self.writers {
            let account = record.accounts.withLock { $0[writer] }
            #expect(try rooms.read("stress", "counter \(writer)") == "\(account.acknowledged)")
            #expect(account.acknowledged > 0, "writer \(writer) never came to write")
        }
        let report = try rooms.keychain.examine()
        #expect(report.found == 0 && report.locked == 0 && report.checked == report.rows)
        let (rounds, calls) = (record.makers.withLock { $0.count }, record.calls.withLock { $0 })
        #expect(rounds > 0 && calls[1] > 0)
        print(
            """
            stress: \(Self.seconds) s, \(calls[0]) calls of writers, \(calls[1]) of readers, \(rounds) items that all wanted to make; \
            \(report.rows) rows left
            """
        )
    }

    /// Increments its own item; in between, adds, changes and deletes another; and creates the item of the round, as all do.
    private static func write(as writer: Int, client: KeychainClient, record: Record, until end: UInt64) throws {
        var number = 0
        // At least once, however late the machine starts this thread.
        repeat {
            number += 1
            record.accounts.withLock { $0[writer].begun = number }
            let value: SecretBytes? = secret("\(number)")
            try client.update(Rooms.query("stress", "counter \(writer)"), ItemChanges(attributes: ItemAttributes()), secret: value)
            record.accounts.withLock { $0[writer].acknowledged = number }
            let own = ItemRecord(
                kind: .genericPassword, attributes: ItemAttributes([.service: .text("own \(writer)"), .account: .text("\(number)")]))
            _ = try client.add(own, secret: value)
            try client.delete(Rooms.query("own \(writer)", "\(number)"))
            try makeShared(round: number, writer: writer, client: client, record: record)
            record.called(0)
        } while MachineClock.monotonic < end
    }

    /// Adds the item that all writers add, of whom at most one may succeed.
    private static func makeShared(round: Int, writer: Int, client: KeychainClient, record: Record) throws {
        let shared = ItemRecord(
            kind: .genericPassword, attributes: ItemAttributes([.service: .text("shared"), .account: .text("\(round)")]))
        let value: SecretBytes? = secret("of \(writer)")
        do throws(Refusal) {
            _ = try client.add(shared, secret: value)
            let other = record.makers.withLock { $0.updateValue(writer, forKey: round) }
            if let other { record.fault("writers \(other) and \(writer) both made the item of round \(round)") }
        } catch {
            guard error.reason == .duplicateItem else { throw error }
        }
    }

    private static func value(_ entry: ReceivedItem?) throws -> String {
        guard let secret = entry?.takeSecret() else { return "nothing" }
        return String(decoding: secret.disclosed(), as: UTF8.self)
    }

    /// Reads items. A value is never older than what was acknowledged before the read began, and never one that was not written.
    private static func read(as reader: Int, client: KeychainClient, record: Record, until end: UInt64) throws {
        var turn = reader
        repeat {
            turn += 1
            let writer = turn % writers
            let before = record.accounts.withLock { $0[writer].acknowledged }
            var query = Rooms.query("stress", "counter \(writer)")
            query.returns.insert(.data)
            let found = try value(try client.copyMatching(query).first)
            let after = record.accounts.withLock { $0[writer].begun }
            guard let number = Int(found), number >= before, number <= after else {
                record.fault("reader \(reader) read \(found) of writer \(writer), between \(before) and \(after)")
                continue
            }
            if turn % 64 == 0 {
                var all = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text("stress")]))
                all.limit = .all
                all.returns.insert(.attributes)
                let count = try client.copyMatching(all).count
                if count != writers { record.fault("reader \(reader) found \(count) of \(writers) counters") }
            }
            record.called(1)
        } while MachineClock.monotonic < end
    }
}
