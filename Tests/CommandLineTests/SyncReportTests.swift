// What devices say of each other's files, while others write (Specs/sync.md, "Faults").

import Testing
import VaubanCommands
import VaubanSyncModel

@Suite("What devices of a circle say that they have read")
struct SyncReportTests {
    private static let name = [UInt8](repeating: 1, count: 16)

    @Test("A device knows of whom another member has read more than it has, as long as that one is a member")
    func writersReadFurther() throws {
        var (writer, reader, late) = (CompactingDevice(1), CompactingDevice(2), CompactingDevice(3))
        let members = [writer.member, reader.member, late.member]
        (writer.members, reader.members, late.members) = (members, members, members)
        reader.folder = writer.folder
        try Self.write(1, on: &writer)
        // The late one looks at the files of the writer now, and at those of the reader only after both have gone on.
        late.folder.files = writer.folder.files
        try Self.write(2, on: &writer)
        try Self.write(3, on: &reader)
        late.folder.files.merge(reader.folder.files.filter { $0.key.hasPrefix(reader.section) }) { $1 }
        var run = try SimulatedRun(late, now: 10)
        try run.synchronize(Self.limits)
        #expect(run.state.writersReadFurther(among: members) == [writer.member])
        // One that is no member any more says nothing.
        run.state.compareReports(among: [writer.member, late.member])
        #expect(run.state.writersReadFurther(among: members).isEmpty)
        run = try SimulatedRun(late, now: 11)
        run.device.folder = writer.folder
        try run.synchronize(Self.limits)
        #expect(run.state.writersReadFurther(among: members).isEmpty && run.faults.isEmpty)
    }

    private static func write(_ value: UInt16, on device: inout CompactingDevice) throws {
        device.write(name, value, at: Int64(value))
        var run = try SimulatedRun(device, now: Int64(value))
        try run.synchronize(limits)
        device = run.device
    }

    /// Nothing is compacted.
    private static let limits = CompactionLimits(filesMin: 1000, unsaidMax: 1000, removedMax: 1000, didStep: { _ in })
}
