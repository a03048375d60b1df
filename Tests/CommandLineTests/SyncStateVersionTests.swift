// The versions of items in the state of a device (Specs/sync.md, "Parts").

import Crypto
import Testing
import VaubanCommands
import VaubanSyncModel

@Suite("Versions of items in the state")
struct SyncStateVersionTests {
    private let device = CompactingDevice(1)
    private func octets(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    /// Returns what a later run reads of a ledger.
    private func again(_ entries: [[UInt8]: SyncLedger.Entry]) throws -> SyncLedger {
        var state = try SyncState(nil, of: device.view, CompactingDevice.cipher, at: "state")
        state.ledger = SyncLedger(device: device.device, entries: entries)
        return try SyncState(try state.sealed(CompactingDevice.cipher), of: device.view, CompactingDevice.cipher, at: "state").ledger
    }

    private func entry(_ versions: [SyncedVersion], base: SyncStamp? = nil) -> SyncLedger.Entry {
        SyncLedger.Entry(
            stamp: SyncStamp(time: 50, device: octets(2)), mark: octets(5), item: octets(6), changed: 40, isPending: true, isUnsent: true,
            base: base, versions: versions)
    }

    @Test("Versions of this device and of others are read as they were written") func roundTrip() throws {
        let parts = [
            PartDigests([.value: .max, .comment: 1]), PartDigests([.value: .max]), PartDigests([:]),
            PartDigests([.value: 3, .label: 1 << 63, .publicKeyHash: 7]),
        ]
        let devices = [device.device, octets(2), octets(3), octets(4)]
        var versions: [SyncedVersion] = []
        for (number, part) in parts.enumerated() {
            for maker in [devices[number], octets(2)] {
                let file = FilePlace(device: devices[3 - number], number: Int64(number) * 33_333_333)
                versions.append(SyncedVersion(stamp: SyncStamp(time: Int64(number) - 2, device: maker), file: file, parts: part))
            }
        }
        #expect(versions.count == SyncedVersion.countMax)
        let entries = [
            octets(10): entry(versions), octets(11): entry(versions.reversed(), base: SyncStamp(time: 3, device: octets(3))),
            octets(12): entry([]), octets(13): entry([versions[3]]),
        ]
        #expect(try again(entries).entries == entries)
    }

    @Test("A hundred thousand items have a few megabytes of versions") func size() throws {
        var state = try SyncState(nil, of: device.view, CompactingDevice.cipher, at: "state")
        func bytes(_ versions: [SyncedVersion]) throws -> Int {
            var entries: [[UInt8]: SyncLedger.Entry] = [:]
            for number in 0..<1000 {
                entries[[UInt8](repeating: 1, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]] = entry(versions)
            }
            state.ledger = SyncLedger(device: device.device, entries: entries)
            return try state.sealed(CompactingDevice.cipher).count
        }
        let version = SyncedVersion(
            stamp: SyncStamp(time: 50, device: octets(2)), file: FilePlace(device: octets(2), number: 7),
            parts: PartDigests([.value: 1, .protection: 2, .label: 3, .comment: 4]))
        let difference = try bytes([version]) - bytes([])
        #expect(difference == 1000 * (1 + 1 + 4 + 1 + 4 * 9))
    }

    @Test("A state of the version before is read, and knows no versions") func earlierState() throws {
        func number(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let none = [UInt8](repeating: 0, count: 4)
        // Version 5; flags; the list; devices, companions, reports, forks; two compactions; two lists of counts; two digests; statements.
        var bytes: [UInt8] = [0, 0, 0, 5, 0] + number(3) + none + none + none + none
        bytes += [UInt8](repeating: 0, count: 32) + none + none + [UInt8](repeating: 0, count: 64) + none + none + none
        bytes += octets(10) + number(50) + device.device + [2 | 4 | 8 | 16] + octets(5) + octets(6) + number(40) + number(30) + octets(3)
        let sealed = try #require(
            try AES.GCM.seal(bytes, using: SymmetricKey(data: CompactingDevice.stateKey), authenticating: Array("sync state".utf8)).combined
        )
        let ledger = try SyncState(Array(sealed), of: device.view, CompactingDevice.cipher, at: "state").ledger
        let known = SyncLedger.Entry(
            stamp: SyncStamp(time: 50, device: device.device), mark: octets(5), item: octets(6), changed: 40, isPending: true,
            isUnsent: true,
            base: SyncStamp(time: 30, device: octets(3)))
        #expect(ledger.entries == [octets(10): known])
        #expect(try again(ledger.entries).entries == ledger.entries)
    }
}
