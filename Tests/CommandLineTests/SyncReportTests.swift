// What devices report about each other's files, while others write (Specs/sync.md, "Faults").

import Testing
import VaubanCommands
import VaubanSyncModel

@Suite("What devices of a circle report as read")
struct SyncReportTests {
    private static let name = [UInt8](repeating: 1, count: 16)
    fileprivate static let otherName = [UInt8](repeating: 2, count: 16)

    @Test("A device knows whose files another device has read further than it has, as long as that other device is a member")
    func membersWithUnreadFiles() throws {
        var (writer, reader, late) = (CompactingDevice(1), CompactingDevice(2), CompactingDevice(3))
        let members = [writer.member, reader.member, late.member]
        (writer.members, reader.members, late.members) = (members, members, members)
        reader.folder = writer.folder
        try Self.write(1, on: &writer)
        // The late device sees the writer's files now, and the reader's only after both have written more.
        late.folder.files = writer.folder.files
        try Self.write(2, on: &writer)
        try Self.write(3, on: &reader)
        late.folder.files.merge(reader.folder.files.filter { $0.key.hasPrefix(reader.section) }) { $1 }
        var run = try SimulatedRun(late, now: 10)
        try run.synchronize(Self.limits)
        #expect(run.state.membersWithUnreadFiles(among: members) == [writer.member])
        // Reports of a device that is no longer a member do not count.
        run.state.compareReports(among: [writer.member, late.member])
        #expect(run.state.membersWithUnreadFiles(among: members).isEmpty)
        run = try SimulatedRun(late, now: 11)
        run.device.folder = writer.folder
        try run.synchronize(Self.limits)
        #expect(run.state.membersWithUnreadFiles(among: members).isEmpty && run.faults.isEmpty)
    }

    @Test("Files that a member writes while another is read, and that the other has already read, are read too and cause no fault")
    func filesWrittenMeanwhileAreRead() throws {
        var (writer, reader, late) = (CompactingDevice(1), CompactingDevice(2), CompactingDevice(3))
        let members = [writer.member, reader.member, late.member]
        (writer.members, reader.members, late.members) = (members, members, members)
        reader.folder = writer.folder
        try Self.write(1, on: &writer)
        try Self.write(2, to: Self.otherName, on: &reader)
        // Whenever the late device has reached the end of the writer's files, the writer writes more, and the reader reads it.
        let shared = writer.folder
        late.folder.files = shared.files
        let growth = Growth(writer: writer, reader: reader, folder: late.folder, left: 3)
        late.folder.didRead = { growth.grow(after: $0) }
        var run = try SimulatedRun(late, now: 50)
        try run.synchronize(Self.limits)
        #expect(run.faults.isEmpty && growth.left < 2)
        late = run.device
        late.folder.didRead = { _ in }
        run = try SimulatedRun(late, now: 60)
        try run.synchronize(Self.limits)
        #expect(run.faults.isEmpty && run.device.disk.items.mapValues(\.value) == [Self.name: growth.last, Self.otherName: growth.last])
    }

    @Test("A device whose carrier holds back a statement that a member's file names says so in each run, and not once it has it")
    func heldBackStatement() throws {
        var (writer, reader) = (CompactingDevice(1), CompactingDevice(2))
        let members = [writer.member, reader.member]
        (writer.members, reader.members) = (members, members)
        reader.folder = writer.folder
        writer.statement = (2, 0)
        try Self.write(1, on: &writer)
        for time in 10...11 {
            var run = try SimulatedRun(reader, now: Int64(time))
            try run.synchronize(Self.limits)
            #expect(run.faults.count == 1 && run.faults[0].contains("device 1 has followed circle/00000002") && !run.isBehind)
            #expect(run.device.disk.items[Self.name]?.value == 1)
            reader = run.device
        }
        reader.statement = (2, 0)
        var run = try SimulatedRun(reader, now: 12)
        // A command that only looks at the state knows that too.
        #expect(run.state.statements.isWhole)
        try run.synchronize(Self.limits)
        #expect(run.faults.isEmpty && run.state.statements.isWhole)
        // The same number of another branch.
        reader.statement = (2, 7)
        writer.statement = (2, 0)
        try Self.write(2, on: &writer)
        run = try SimulatedRun(reader, now: 13)
        try run.synchronize(Self.limits)
        #expect(run.faults.contains { $0.contains("device 1 has followed another circle/00000002 than this device") })
    }

    @Test("A statement that arrives while a run reads is no fault in that run, and one in the next if it does not stay")
    func statementMadeMeanwhile() throws {
        var (writer, reader) = (CompactingDevice(1), CompactingDevice(2))
        let members = [writer.member, reader.member]
        (writer.members, reader.members) = (members, members)
        reader.folder = writer.folder
        writer.statement = (2, 0)
        try Self.write(1, on: &writer)
        writer.folder.files["circle/00000002"] = [1]
        for time in 10...11 {
            var run = try SimulatedRun(reader, now: Int64(time))
            try run.synchronize(Self.limits)
            #expect(run.faults.count == time - 10)
            reader = run.device
        }
    }

    /// Two devices that keep writing while a third one reads.
    private final class Growth {
        private var writer: CompactingDevice
        private var reader: CompactingDevice
        private let folder: CarriedFolder
        private(set) var left: Int
        private(set) var last: UInt16 = 10

        init(writer: CompactingDevice, reader: CompactingDevice, folder: CarriedFolder, left: Int) {
            (self.writer, self.reader, self.folder, self.left) = (writer, reader, folder, left)
        }

        func grow(after place: String) {
            guard left > 0, place.hasPrefix(writer.section), folder.files[place] == nil else { return }
            left -= 1
            last += 1
            do {
                try SyncReportTests.write(last, on: &writer)
                try SyncReportTests.write(last, to: SyncReportTests.otherName, on: &reader)
            } catch {
                Issue.record(error)
            }
            folder.files.merge(writer.folder.files) { $1 }
        }
    }

    fileprivate static func write(_ value: UInt16, to name: [UInt8] = name, on device: inout CompactingDevice) throws {
        device.write(name, value, at: Int64(value))
        var run = try SimulatedRun(device, now: Int64(value))
        try run.synchronize(limits)
        device = run.device
    }

    /// Limits under which nothing is compacted.
    private static let limits = CompactionLimits(filesMin: 1000, unreportedMax: 1000, removedMax: 1000, didStep: { _ in })
}
