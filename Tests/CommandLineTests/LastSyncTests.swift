import Foundation
import Glibc
import TestSupport
import Testing
import VaubanCommands

/// When a device last synchronized completely (Specs/sync.md, "The last synchronization").
@Suite struct LastSyncTests {
    private static let place = "etcd:/home/anna/etcd account"
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)
    private static let day: TimeInterval = 86400

    private func date(in folder: TemporaryFolder) -> Date? { LastSync.read(in: folder.path)?.date }

    @Test("What was recorded is read, and a later synchronization replaces it") func recordsAreRead() throws {
        let folder = try TemporaryFolder()
        #expect(LastSync.read(in: folder.path) == nil)
        LastSync.record(Self.place, in: folder.path, now: Self.now)
        #expect(LastSync.read(in: folder.path) == LastSync(date: Self.now, place: Self.place))
        LastSync.record("/media/stick", in: folder.path, now: Self.now + 1)
        #expect(LastSync.read(in: folder.path) == LastSync(date: Self.now + 1, place: "/media/stick"))
        let file = try #require(FileManager.default.contents(atPath: "\(folder.path)/last-sync"))
        #expect(String(decoding: file, as: UTF8.self) == "2026-09-21T14:13:21Z\n/media/stick\n")
        // Nothing is left of the earlier record.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["last-sync"])
    }

    @Test("A record is replaced only after the interval, unless it is of another place or of a later time") func intervals() throws {
        let folder = try TemporaryFolder()
        LastSync.record(Self.place, in: folder.path, notWithin: 60, now: Self.now)
        for (seconds, kept) in [(0.0, 0.0), (59, 0), (60, 60), (61, 60), (120, 120)] {
            LastSync.record(Self.place, in: folder.path, notWithin: 60, now: Self.now + seconds)
            #expect(date(in: folder) == Self.now + kept)
        }
        LastSync.record("/media/stick", in: folder.path, notWithin: 60, now: Self.now + 121)
        #expect(LastSync.read(in: folder.path) == LastSync(date: Self.now + 121, place: "/media/stick"))
        LastSync.record("/media/stick", in: folder.path, notWithin: 60, now: Self.now)
        #expect(date(in: folder) == Self.now)
    }

    @Test(
        "A damaged record counts as none",
        arguments: ["", "\n", "2026-09-21T14:13:21Z", "2026-09-21T14:13:21Z\n", "yesterday\n/media/stick\n", "\0\n/media/stick\n"])
    func damagedRecords(_ text: String) throws {
        let folder = try TemporaryFolder()
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/last-sync"))
        #expect(LastSync.read(in: folder.path) == nil)
        LastSync.record(Self.place, in: folder.path, notWithin: 60, now: Self.now)
        #expect(date(in: folder) == Self.now)
    }

    @Test("A record that cannot be written is not an error, and a pipe in its place is not waited for")
    func recordsThatCannotBeWritten() throws {
        let folder = try TemporaryFolder()
        LastSync.record(Self.place, in: "\(folder.path)/missing", now: Self.now)
        #expect(LastSync.read(in: "\(folder.path)/missing") == nil)
        try #require(mkfifo("\(folder.path)/last-sync", 0o600) == 0)
        #expect(LastSync.read(in: folder.path) == nil)
    }

    @Test("After seven days the user is told what to do, and not before, or if the clock was set back")
    func advice() {
        func advice(after days: Double) -> String { LastSync(date: Self.now, place: "x").advice(now: Self.now + days * Self.day) }
        for days in [-400, 0, 1, 6.99] { #expect(advice(after: days) == "", "\(days)") }
        #expect(advice(after: 7) == "; it is 7 days old; run vauban sync to see why")
        #expect(advice(after: 90.5) == "; it is 90 days old; run vauban sync to see why")
    }
}
