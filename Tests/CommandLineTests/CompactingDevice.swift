// A device of a circle with its copy of the folder: files, state and compaction are real, the keychain is simulated.

import Crypto
import VaubanCommands
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

/// One device's copy of the folder.
final class CarriedFolder: SyncCarrier {
    /// The content of each file, by its section and name.
    var files: [String: [UInt8]] = [:]
    /// Called after a file was read, or found missing.
    var didRead: (String) -> Void = { _ in }
    let place = "simulated"
    let remedyForMissingFiles = ""

    func names(in section: SyncFolder.Section) -> [String] {
        files.keys.filter { $0.hasPrefix(section.path + "/") }.map { String($0.dropFirst(section.path.count + 1)) }.sorted()
    }
    func read(_ name: String, in section: SyncFolder.Section) -> [UInt8]? {
        let place = "\(section.path)/\(name)"
        defer { didRead(place) }
        return files[place]
    }
    func add(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) throws(Refusal) {
        guard files["\(section.path)/\(name)"] ?? bytes == bytes else { throw Refusal(.badParameter, "taken") }
        files["\(section.path)/\(name)"] = bytes
    }
    func replace(_ bytes: [UInt8], named name: String, in section: SyncFolder.Section) { files["\(section.path)/\(name)"] = bytes }
    func remove(_ name: String, in section: SyncFolder.Section) { files["\(section.path)/\(name)"] = nil }
    func erase(_ name: String, in section: SyncFolder.Section) { files["\(section.path)/\(name)"] = nil }
    func tidy(_ section: SyncFolder.Section) {}
    func remedyForForeignFile(_ name: String, in section: SyncFolder.Section) -> String { "" }
    func watch(for subject: CarrierSubject, besides device: [UInt8], waking wakeup: Wakeup) throws(Refusal) -> any CarrierMonitor {
        throw Refusal(.unsupported)
    }
}

/// A device between its runs.
struct CompactingDevice {
    struct Item: Equatable {
        var value: UInt16
        var mark: [UInt8]
        var item: [UInt8]
        var changed: Int64
    }

    /// What a rollback of a device restores.
    struct Disk {
        var state: [UInt8]?
        var items: [[UInt8]: Item] = [:]
        var tombstones: [[UInt8]: ItemStatus] = [:]
        /// Whether the database is an earlier one that has not been listed since.
        var isEarlier = false
    }

    let device: [UInt8]
    let key: Curve25519.Signing.PrivateKey
    var disk = Disk()
    var folder = CarriedFolder()
    var members: [CircleMember] = []
    /// The last statement that the device has followed, and its branch of the circle.
    var statement: (number: Int64, branch: UInt8) = (1, 0)
    private var marks: UInt16 = 0

    init(_ number: UInt8, key: Curve25519.Signing.PrivateKey = .init()) {
        device = [UInt8](repeating: number, count: 16)
        self.key = key
    }

    static let circle = [UInt8](repeating: 0xC1, count: 16)
    static let stateKey = [UInt8](repeating: 7, count: 32)
    static var cipher: FrameCipher { FrameCipher(SecretBytes(copying: stateKey)) }

    var member: CircleMember {
        CircleMember(device: device, name: "device \(device[0])", verification: Array(key.publicKey.rawRepresentation))
    }
    var view: CircleView {
        CircleView(
            device: device, circle: Self.circle, number: statement.number, digest: [UInt8](repeating: statement.branch, count: 32),
            epoch: 1, members: members)
    }
    var section: String { SyncFolder.Section.device(device).path }

    mutating func nextMark() -> [UInt8] {
        marks += 1
        return device.prefix(14) + [UInt8(marks >> 8), UInt8(marks & 255)]
    }

    mutating func write(_ name: [UInt8], _ value: UInt16, at time: Int64) {
        let before = disk.items[name]
        let mark = nextMark()
        disk.items[name] = Item(value: value, mark: mark, item: before?.item ?? mark, changed: max(time, (before?.changed ?? .min) + 1))
    }

    mutating func delete(_ name: [UInt8]) {
        guard let before = disk.items.removeValue(forKey: name) else { return }
        disk.tombstones[before.item] = .deleted
    }

    /// Loses an item to a damaged page.
    mutating func lose(_ name: [UInt8]) { disk.items[name] = nil }
}

/// Thrown where a run is killed.
struct Killed: Error {}

/// One run of a device, in the order of `SyncRun`.
struct SimulatedRun: CompactingRun {
    var device: CompactingDevice
    var state: SyncState
    var faults: [String] = []
    var sent = 0
    var compacted = 0
    var compactionFault: String?
    /// Every change that this run wrote.
    var written: [(name: [UInt8], stamp: SyncStamp, value: UInt16?)] = []
    let now: Int64
    let files = [CompactingDevice.cipher]
    var isBehind = false
    var growing: Set<[UInt8]> = []
    let triesAgain = false
    let nextStatement: SyncFolder.File? = nil

    var carrier: any SyncCarrier { device.folder }
    var view: CircleView { device.view }

    init(_ device: CompactingDevice, now: Int64) throws {
        (self.device, self.now) = (device, now)
        state = try SyncState(device.disk.state, of: device.view, CompactingDevice.cipher, at: "state")
    }

    func sign(_ digest: [UInt8]) throws -> [UInt8] {
        Array(try device.key.signature(for: Array("vauban sync file v1".utf8) + [0] + CompactingDevice.circle + device.device + digest))
    }

    mutating func save() throws { device.disk.state = try state.sealed(CompactingDevice.cipher) }

    mutating func synchronize(_ limits: CompactionLimits) throws {
        try stampChanges()
        _ = try readMembers()
        noteReports()
        try save()
        guard !isBehind else { return }
        try writeAll()
        try compact(limits)
    }

    private mutating func stampChanges() throws {
        let rows = device.disk.items.map { SyncedRow(name: $0.key, mark: $0.value.mark, item: $0.value.item, changed: $0.value.changed) }
        let statuses = Dictionary(state.ledger.statusQueries(rows).map { ($0.item, itemStatus(of: $0)) }) { first, _ in first }
        if state.ledger.stamp(rows, statuses, isEarlier: device.disk.isEarlier, now: now).mustReread { state.rereads = true }
        device.disk.isEarlier = false
        try save()
    }

    private func itemStatus(of query: ItemStatusQuery) -> ItemStatus {
        if let there = device.disk.items.values.first(where: { $0.item == query.item }) {
            return device.disk.tombstones[query.item] == .returned ? .returned : there.changed > query.changed ? .changed : .lost
        }
        return device.disk.tombstones[query.item] ?? .lost
    }

    // MARK: Reading

    mutating func merge(_ records: [SyncRecord], epoch: Int64, of writer: String, in origin: ChangeOrigin) throws -> Bool {
        for record in records {
            take(record)
            try didMerge()
        }
        return true
    }

    private mutating func take(_ record: SyncRecord) {
        guard state.ledger.decision(on: record.name, record.stamp) == .take else { return }
        let before = device.disk.items[record.name]
        guard case .put(_, let rest) = record.content else {
            if let before {
                device.disk.items[record.name] = nil
                device.disk.tombstones[before.item] = .deletedElsewhere
            }
            return state.ledger.takeDeletion(of: record.name, record.stamp, now: now)
        }
        let mark = device.nextMark()
        let item = CompactingDevice.Item(
            value: UInt16(rest[0]) << 8 | UInt16(rest[1]), mark: mark, item: before?.item ?? mark, changed: record.changed)
        device.disk.items[record.name] = item
        device.disk.tombstones[item.item] = device.disk.tombstones[item.item].map { _ in .returned }
        state.ledger.take(SyncedRow(name: record.name, mark: mark, item: item.item, changed: item.changed), record.stamp)
    }

    // MARK: Writing

    /// One file for each change, so that there are many.
    mutating func writeAll() throws {
        for name in state.ledger.pending {
            guard let entry = state.ledger.entries[name] else { continue }
            let value = entry.mark == nil ? nil : device.disk.items[name]?.value
            guard entry.mark == nil || value != nil else { continue }
            try write([Self.record(name, entry, of: value)])
        }
    }

    private static func record(_ name: [UInt8], _ entry: SyncLedger.Entry, of value: UInt16?) -> SyncRecord {
        let item = BackupItem(
            binding: [1], wrapped: [UInt8](repeating: 0, count: 60), attributes: [UInt8](repeating: 0, count: 60),
            head: [UInt8](repeating: 0, count: BackupItem.headBytes))
        return SyncRecord(
            name: name, stamp: entry.stamp, changed: entry.changed,
            content: value.map { .put(item, rest: [UInt8($0 >> 8), UInt8($0 & 255)]) } ?? .deleted)
    }

    mutating func write(_ records: [SyncRecord]) throws {
        let position = state.seen[view.device]?.position ?? SyncPosition()
        let file = SyncFile(seen: state.seen.mapValues(\.position), records: records)
        let bytes = try file.sealed(at: position, in: view, CompactingDevice.cipher) { try sign($0) }
        try carrier.add(bytes, named: SyncFolder.name(of: position.number + 1), in: .device(view.device))
        for record in records {
            var value: UInt16?
            if case .put(_, let rest) = record.content { value = UInt16(rest[0]) << 8 | UInt16(rest[1]) }
            written.append((record.name, record.stamp, value))
        }
        try didStep(.added)
        state.noteWritten(bytes, file)
        for record in records { state.ledger.markWritten(record.name, record.stamp) }
        try save()
        try didStep(.rewritten)
    }

    /// What kills this run, apart from the steps of compaction.
    var didStep: (CompactionStep) throws -> Void = { _ in }
    /// Called after each change that is applied but not yet noted in the state.
    var didMerge: () throws -> Void = {}
}
