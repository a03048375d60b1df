import Foundation
import TestSupport
import Testing
import VaubanCommands
import VaubanLinuxHost

/// What watches report, by which `vauban sync --follow` decides how much it looks at (Specs/sync.md, "Following").
@Suite struct CarrierMonitorTests {
    private func event(_ watch: Int32, _ name: String) -> [UInt8] {
        let padded = Array(name.utf8) + [UInt8](repeating: 0, count: name.isEmpty ? 0 : 16 - name.utf8.count % 16)
        let head = [UInt32(bitPattern: watch), 0x100, 0, UInt32(padded.count)]
        return head.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } } + padded
    }

    @Test("The events of a folder are read with their watches and names") func events() {
        let bytes = event(1, "00000001") + event(-1, "") + event(258, "a name of more than sixteen bytes")
        let changes = FolderMonitor.changes(in: bytes[...])
        #expect(changes.map(\.watch) == [1, -1, 258])
        #expect(changes.map(\.name) == ["00000001", "", "a name of more than sixteen bytes"])
        #expect(FolderMonitor.changes(in: bytes.prefix(15)).isEmpty)
    }

    @Test("Only files of devices are reported by device; with anything else, nothing is known") func news() {
        let news = CarrierChanges()
        #expect(news.take() == [])
        news.add("devices/a1")
        news.add("devices/b2")
        news.add("devices/a1")
        #expect(news.take() == ["a1", "b2"])
        #expect(news.take() == [])
        for other in ["circle", "join", "companions/a1/b2", "devices", "devices/a1/x", ""] {
            news.add("devices/a1")
            news.add(other)
            #expect(news.take() == nil, "\(other)")
        }
        news.addUnknown()
        #expect(news.take() == nil)
        #expect(news.take() == [])
    }

    @Test("A file that is put into the folder of a device is signaled with that device, and a new folder without") func folder() throws {
        let path = NSTemporaryDirectory() + "watch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        for folder in ["circle", "join", "devices/a1", "devices/b2"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        let wakeup = try Wakeup()
        let watch = try FolderMonitor(path, for: .items, besides: "b2", waking: wakeup)
        func put(_ name: String) throws -> Wakeup.Outcome {
            try Data("file".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name).partial"))
            try FileManager.default.moveItem(atPath: "\(path)/\(name).partial", toPath: "\(path)/\(name)")
            return wakeup.wait(until: MachineClock.monotonic + HangLimit.nanoseconds)
        }
        #expect(try put("devices/a1/00000001") == .signaled)
        #expect(watch.news.take() == ["a1"])
        #expect(try put("circle/00000001") == .signaled)
        #expect(watch.news.take() == nil)
        // What this device writes itself signals nothing.
        try Data("file".utf8).write(to: URL(fileURLWithPath: "\(path)/devices/b2/00000001"))
        #expect(try put("devices/a1/00000002") == .signaled)
        #expect(watch.news.take() == ["a1"])
    }
}
