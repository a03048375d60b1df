// The steps of compaction, one by one, and what a carrier can do with the record (Specs/sync.md, "Compaction").

import Crypto
import Testing
import VaubanCommands
import VaubanRefusal
import VaubanSyncModel

@Suite("Compaction of the files of vauban sync")
struct CompactionTests {
    private static func name(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    /// Two devices that share one folder. The first has written six files, with two items and a deletion.
    private final class Pair {
        var writer = CompactingDevice(1)
        var reader = CompactingDevice(2)
        var time: Int64 = 100

        init() throws {
            reader.folder = writer.folder
            let members = [writer.member, reader.member]
            (writer.members, reader.members) = (members, members)
            for number in 1...4 { try change(CompactionTests.name(1), UInt16(number)) }
            try change(CompactionTests.name(2), 9)
            try change(CompactionTests.name(3), 8)
            writer.delete(CompactionTests.name(3))
            try run(\.writer)
        }

        func change(_ name: [UInt8], _ value: UInt16) throws {
            time += 1
            writer.write(name, value, at: time)
            try run(\.writer)
        }

        /// Runs a device up to a step, with compaction if `compacts`.
        @discardableResult
        func run(
            _ device: ReferenceWritableKeyPath<Pair, CompactingDevice>, killedAfter step: CompactionStep? = nil, compacts: Bool = false
        ) throws -> SimulatedRun {
            time += 1
            var run = try SimulatedRun(self[keyPath: device], now: time)
            let limits = CompactionLimits(
                filesMin: compacts ? 4 : 1000, unreportedMax: compacts ? 2 : 1000, removedMax: 1000,
                didStep: { if $0 == step { throw Killed() } })
            do { try run.synchronize(limits) } catch is Killed {}
            self[keyPath: device] = run.device
            return run
        }

        /// Runs both devices until the files are compacted.
        func compact() throws {
            for _ in 0..<3 {
                try run(\.writer, compacts: true)
                try run(\.reader, compacts: true)
            }
        }

        func names(of device: CompactingDevice) -> [String] { device.folder.names(in: .device(device.device)) }
        var record: [UInt8]? {
            get { writer.folder.read("00000001", in: .device(writer.device)) }
            set { writer.folder.files["\(writer.section)/00000001"] = newValue }
        }
    }

    @Test("The files are removed once the other device has read what was rewritten, and a device that joins then has everything")
    func filesGo() throws {
        let pair = try Pair()
        #expect(pair.names(of: pair.writer).count == 7)
        let planned = try pair.run(\.writer, compacts: true)
        #expect(planned.state.compaction?.last == 7 && planned.state.compaction?.end == 10)
        #expect(planned.state.awaited(among: pair.writer.members).map(\.device) == [pair.reader.device])
        // No device has read it yet.
        #expect(try pair.run(\.writer, compacts: true).compacted == 0)
        try pair.run(\.reader, compacts: true)
        let done = try pair.run(\.writer, compacts: true)
        #expect(done.compacted == 6 && done.faults.isEmpty)
        #expect(pair.names(of: pair.writer) == ["00000001", "00000008", "00000009", "00000010"])
        var joiner = CompactingDevice(5)
        joiner.folder = pair.writer.folder
        joiner.members = pair.writer.members + [joiner.member]
        pair.reader = joiner
        let joined = try pair.run(\.reader)
        #expect(joined.faults.isEmpty && joined.device.disk.items.mapValues(\.value) == [Self.name(1): 4, Self.name(2): 9])
    }

    /// Returns the run of a device that joins with this folder.
    private func joined(_ pair: Pair) throws -> SimulatedRun {
        var joiner = CompactingDevice(5)
        joiner.folder = pair.writer.folder
        joiner.members = pair.writer.members + [joiner.member]
        var run = try SimulatedRun(joiner, now: 1000)
        try run.synchronize(CompactionLimits())
        return run
    }

    @Test("A record that is missing, or was replaced by an earlier one, is restored", arguments: [false, true])
    func recordIsRestored(_ isEarlier: Bool) throws {
        let pair = try Pair()
        try pair.compact()
        let earlier = pair.record
        for number in 5...9 { try pair.change(Self.name(1), UInt16(number)) }
        try pair.compact()
        let whole = pair.record
        #expect(earlier != whole)
        pair.record = isEarlier ? earlier : nil
        #expect(try !joined(pair).faults.isEmpty)
        let run = try pair.run(\.writer, compacts: true)
        #expect(run.faults.isEmpty && run.compactionFault == nil)
        let after = try joined(pair)
        #expect(after.faults.isEmpty && after.device.disk.items.mapValues(\.value) == [Self.name(1): 9, Self.name(2): 9])
    }

    @Test("The next plan covers a missing file with rewritten changes") func holeIsCovered() throws {
        let pair = try Pair()
        try pair.run(\.writer, compacts: true)
        try pair.run(\.reader, compacts: true)
        pair.writer.folder.files["\(pair.writer.section)/00000009"] = nil
        let found = try pair.run(\.writer, compacts: true)
        #expect(found.faults.count == 1 && found.compacted == 0 && found.state.compaction == nil)
        try pair.compact()
        try pair.compact()
        let after = try joined(pair)
        #expect(after.faults.isEmpty && after.device.disk.items.mapValues(\.value) == [Self.name(1): 4, Self.name(2): 9])
    }

    @Test("A device that has read none or some of the files reads on only once everything rewritten is there", arguments: [0, 3])
    func halfCopied(_ read: Int) throws {
        let pair = try Pair()
        // A copy of the reader from before it has read everything.
        var late = CompactingDevice(2, key: pair.reader.key)
        late.members = pair.reader.members
        late.folder = CarriedFolder()
        for (name, bytes) in pair.writer.folder.files where name <= "\(pair.writer.section)/0000000\(read)" {
            late.folder.files[name] = bytes
        }
        var some = try SimulatedRun(late, now: 50)
        try some.synchronize(CompactionLimits())
        late = some.device
        try pair.compact()
        let whole = pair.writer.folder.files
        for missing in ["00000009", "00000010"] {
            late.folder.files = whole.filter { $0.key != "\(pair.writer.section)/\(missing)" }
            var run = try SimulatedRun(late, now: 1000)
            try run.synchronize(CompactionLimits())
            #expect(run.faults.contains { $0.contains("lacks the file \(missing)") } && run.device.disk.items == late.disk.items)
        }
        late.folder.files = whole
        var run = try SimulatedRun(late, now: 1000)
        try run.synchronize(CompactionLimits())
        #expect(run.faults.isEmpty && run.device.disk.items.mapValues(\.value) == [Self.name(1): 4, Self.name(2): 9])
    }

    @Test(
        "A record that the carrier forges, alters, takes from another device or swaps with the first file is refused or does no harm"
    )
    func forgedRecords() throws {
        let pair = try Pair()
        let first = pair.record
        try pair.compact()
        let record = try #require(pair.record)
        var joiner = CompactingDevice(5)
        joiner.folder = pair.writer.folder
        joiner.members = pair.writer.members + [joiner.member]
        func faults(_ bytes: [UInt8]?) throws -> [String] {
            pair.record = bytes
            defer { pair.record = record }
            var run = try SimulatedRun(joiner, now: 1000)
            try run.synchronize(CompactionLimits())
            // Only the original first file, if it is put there, brings an item.
            #expect(run.device.disk.items.count == (bytes == first ? 1 : 0))
            return run.faults
        }
        for place in [15, 30, 90, record.count - 1] {
            var altered = record
            altered[place] ^= 1
            #expect(try faults(altered).contains { $0.contains("was altered") })
        }
        let forger = CompactingDevice(1)
        let forged = try Self.record(last: 7, end: 10, chains: 7, of: forger, in: pair.writer.view)
        #expect(try faults(forged).contains { $0.contains("was altered") })
        let others = try Self.record(last: 7, end: 10, chains: 7, of: pair.reader, in: pair.reader.view)
        #expect(try faults(others).contains { $0.contains("was altered") })
        #expect(try faults(first).contains { $0.contains("lacks the file 00000002") })
        #expect(try faults(nil).contains { $0.contains("lacks the file 00000001") })
        #expect(try faults(Array("VAUBAN SYNC 3\n".utf8) + record.dropFirst(14)).contains { $0.contains("later version") })
        // In another place it does not count as a record.
        let last = try #require(pair.names(of: pair.writer).last.flatMap { Int64($0) })
        pair.writer.folder.files["\(pair.writer.section)/\(SyncFolder.name(of: last + 1))"] = record
        let after = try pair.run(\.reader)
        #expect(after.faults.contains { $0.contains("belongs in another place") })
    }

    private static func record(
        last: Int64, end: Int64, chains: Int, of device: CompactingDevice, in view: CircleView
    ) throws -> [UInt8] {
        let chains = (0..<chains).map { [UInt8](repeating: UInt8($0), count: 32) }
        return try CompactionRecord(last: last, end: end, chains: chains).sealed(in: view, CompactingDevice.cipher) { digest in
            Array(try device.key.signature(for: Array("vauban sync file v1".utf8) + [0] + CompactingDevice.circle + view.device + digest))
        }
    }

    @Test("Earlier versions, which do not know records, refuse a record as one of a later version")
    func earlierVersions() throws {
        let pair = try Pair()
        try pair.compact()
        let record = try #require(pair.record)
        // It begins with `VAUBAN SYNC ` and a number other than 1, and is longer than a header.
        #expect(record.starts(with: Array("VAUBAN SYNC ".utf8)) && !record.starts(with: Array("VAUBAN SYNC 1\n".utf8)) && record.count > 82)
        // A member that has read on finds the last file that it read where it was.
        #expect(pair.names(of: pair.writer).last == "00000010")
    }

    @Test(
        "A device that has read other files than the record covers is told so, and one that the record does not reach must join again",
        arguments: [(9, "are not those that were read"), (2, "run vauban sync leave")])
    func otherWays(_ chains: Int, _ words: String) throws {
        let pair = try Pair()
        try pair.run(\.reader)
        let read = pair.reader
        try pair.compact()
        pair.record = try Self.record(last: 9, end: 10, chains: chains, of: pair.writer, in: pair.writer.view)
        for number in 2...9 { pair.writer.folder.files["\(pair.writer.section)/0000000\(number)"] = nil }
        pair.reader = read
        let run = try pair.run(\.reader)
        #expect(run.faults.contains { $0.contains(words) })
        #expect(run.device.disk.items == read.disk.items)
    }

    @Test("An item that is lost after it was marked is still rewritten before its file is removed")
    func lostWhileMarked() throws {
        let pair = try Pair()
        try pair.run(\.writer, killedAfter: .planned, compacts: true)
        pair.writer.lose(Self.name(2))
        let next = try pair.run(\.writer)
        #expect(next.state.compaction == nil && next.device.disk.items[Self.name(2)]?.value == 9)
        try pair.compact()
        try pair.compact()
        #expect(!pair.names(of: pair.writer).contains("00000002"))
        var joiner = CompactingDevice(5)
        joiner.folder = pair.writer.folder
        joiner.members = pair.writer.members + [joiner.member]
        var run = try SimulatedRun(joiner, now: 1000)
        try run.synchronize(CompactionLimits())
        #expect(run.device.disk.items.mapValues(\.value) == [Self.name(1): 4, Self.name(2): 9])
    }

    @Test("A device that was rolled back to before it made a record does not replace a later record with an earlier one")
    func laterRecordStays() throws {
        let pair = try Pair()
        try pair.run(\.writer, compacts: true)
        let earlier = pair.writer.disk
        try pair.compact()
        let first = try #require(pair.record)
        for number in 1...6 { try pair.change(Self.name(1), UInt16(20 + number)) }
        try pair.compact()
        let second = try #require(pair.record)
        #expect(first != second)
        pair.writer.disk = earlier
        pair.writer.disk.isEarlier = true
        try pair.run(\.writer, compacts: true)
        #expect(pair.record == second)
        try pair.compact()
        #expect(pair.writer.disk.items.mapValues(\.value) == [Self.name(1): 26, Self.name(2): 9])
    }

    @Test("A state of the previous version can be read, and says that nothing was compacted") func earlierState() throws {
        let device = CompactingDevice(1)
        let chain = [UInt8](repeating: 3, count: 32)
        let bytes: [UInt8] =
            [0, 0, 0, 1, 2] + [UInt8](repeating: 0, count: 7) + [5] + [0, 0, 0, 1] + device.device + [0, 0, 0, 1]
            + [UInt8](repeating: 4, count: 32) + chain + [UInt8](repeating: 0, count: 12)
        let sealed = try #require(
            try AES.GCM.seal(bytes, using: SymmetricKey(data: CompactingDevice.stateKey), authenticating: Array("sync state".utf8)).combined
        )
        let state = try SyncState(Array(sealed), of: device.view, CompactingDevice.cipher, at: "state")
        #expect(state.seen[device.device]?.chain(at: 1) == chain && state.rereads && state.compaction == nil && state.recorded == nil)
        let again = try SyncState(try state.sealed(CompactingDevice.cipher), of: device.view, CompactingDevice.cipher, at: "state")
        #expect(again.seen == state.seen && again.own == 1)
    }

    @Test("A change that could not be applied is read again once the obstacle is gone, or by another version, and not before")
    func retries() throws {
        let device = CompactingDevice(1)
        let digests = (1...4).map { [UInt8](repeating: $0, count: 32) }
        var state = try SyncState(nil, of: device.view, CompactingDevice.cipher, at: "state")
        state.retry(staying: digests[0], version: digests[1])
        #expect(!state.rereads)
        (state.obstacle, state.refuser) = (digests[0], digests[1])
        func again() throws -> SyncState {
            try SyncState(try state.sealed(CompactingDevice.cipher), of: device.view, CompactingDevice.cipher, at: "state")
        }
        var same = try again()
        same.retry(staying: digests[0], version: digests[1])
        #expect(!same.rereads && same.obstacle == digests[0] && same.refuser == digests[1])
        var moved = try again()
        moved.retry(staying: digests[2], version: digests[1])
        #expect(moved.rereads && moved.obstacle == nil && moved.refuser == digests[1])
        var updated = try again()
        updated.retry(staying: digests[0], version: digests[3])
        #expect(updated.rereads && updated.obstacle == digests[0] && updated.refuser == nil)
    }
}
