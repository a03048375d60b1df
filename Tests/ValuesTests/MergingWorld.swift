// Devices that change parts of one item, with files as the product has them: in order, with what their writer had read.

import VaubanSyncModel

/// One value of one part. Values that were set at different times may be equal.
struct PartValue: Hashable {
    let number: Int
    let digest: UInt64
}

/// One file of a device.
struct MergingFile {
    let stamp: SyncStamp
    let changed: Int64
    let parts: [ItemPart: PartValue]
    let origin: ChangeOrigin
}

/// One device: its keychain, and what its state has.
struct MergingDevice {
    struct Item: Equatable {
        var parts: [ItemPart: PartValue]
        var mark: [UInt8]
        var changed: Int64
    }

    /// What a run that is killed does not save.
    struct State {
        var ledger: SyncLedger
        /// The number of files that were read of each device.
        var read: [[UInt8]: Int64] = [:]
    }

    /// Where a run is killed.
    enum Kill: CaseIterable { case never, afterMerging, afterPlacing, afterWriting }

    static let name = [UInt8](repeating: 9, count: 16)
    let device: [UInt8]
    let skew: Int64
    var state: State
    var item: Item?
    var files: [MergingFile] = []
    private(set) var conflicts = 0
    private var marks: UInt8 = 0

    init(_ number: UInt8, skew: Int64) {
        device = [UInt8](repeating: number, count: 16)
        self.skew = skew
        state = State(ledger: SyncLedger(device: device))
    }

    private mutating func nextMark() -> [UInt8] {
        marks &+= 1
        return device.prefix(15) + [marks]
    }

    private static func digests(_ parts: [ItemPart: PartValue]) -> PartDigests { PartDigests(parts.mapValues(\.digest)) }

    private func row(_ item: Item) -> SyncedRow {
        SyncedRow(name: Self.name, mark: item.mark, item: Self.name, changed: item.changed)
    }

    mutating func set(_ parts: [ItemPart: PartValue], at time: Int64) {
        let changed = max(time + skew, (item?.changed ?? .min) + 1)
        item = Item(parts: (item?.parts ?? [:]).merging(parts) { $1 }, mark: nextMark(), changed: changed)
    }

    mutating func rewrap() {
        let mark = nextMark()
        item?.mark = mark
    }

    // MARK: Runs

    var isIdle: Bool { state.ledger.pending.isEmpty }

    /// One run. Reads at most `filesMax` files of each other device.
    mutating func run(reading others: [MergingDevice], filesMax: Int = .max, at time: Int64, killed: Kill = .never) {
        let saved = state
        _ = state.ledger.stamp(item.map { [row($0)] } ?? [], [:], now: time + skew)
        learn()
        for file in files.dropFirst(Int(state.read[device] ?? 0)) {
            _ = take(file, at: time)
            state.read[device] = file.origin.file.number
        }
        for other in others {
            for file in other.files.dropFirst(Int(state.read[other.device] ?? 0)).prefix(filesMax) {
                let before = state
                switch take(file, at: time) {
                case .merged where killed == .afterMerging || killed == .afterPlacing: return state = before
                case .placed where killed == .afterPlacing: return state = before
                case .merged, .placed, .nothing: break
                }
                state.read[other.device] = file.origin.file.number
            }
        }
        guard let entry = state.ledger.entries[Self.name], entry.isPending, let item, item.mark == entry.mark else { return }
        let place = FilePlace(device: device, number: Int64(files.count) + 1)
        files.append(
            MergingFile(
                stamp: entry.stamp, changed: entry.changed, parts: item.parts, origin: ChangeOrigin(file: place, read: state.read)))
        // The state was saved when the row was stamped.
        if killed == .afterWriting { return state = saved }
        state.ledger.markWritten(
            Self.name, entry.stamp, noting: SyncedVersion(stamp: entry.stamp, file: place, parts: Self.digests(item.parts)))
        state.read[device] = place.number
    }

    private mutating func learn() {
        guard let item, state.ledger.unknownVersions(read: state.read) == [Self.name] else { return }
        state.ledger.recordParts(Self.name, mark: item.mark, Self.digests(item.parts), read: state.read)
    }

    private enum Done { case nothing, placed, merged }

    /// Merges a change as the command line and keychaind do. Returns what was put in place.
    private mutating func take(_ file: MergingFile, at time: Int64) -> Done {
        let conflict = state.ledger.noteConflict(on: Self.name, file.stamp, changed: file.changed, isItem: true)
        if conflict != nil { conflicts += 1 }
        let merge = conflict.flatMap { state.ledger.merge(on: Self.name, file.stamp, $0, in: file.origin) }
        let isNewer = state.ledger.decision(on: Self.name, file.stamp) == .take
        guard isNewer || merge != nil else { return .nothing }
        let received = SyncedVersion(stamp: file.stamp, file: file.origin.file, parts: Self.digests(file.parts))
        if let merge, let here = item {
            let result = merge.result(here: Self.digests(here.parts), received: received.parts)
            if !result.fromEarlier.isEmpty {
                var (parts, earlier) = merge.receivedWins ? (file.parts, here.parts) : (here.parts, file.parts)
                for part in result.fromEarlier { parts[part] = earlier.removeValue(forKey: part) }
                let both = Item(parts: parts, mark: nextMark(), changed: max(time + skew, max(here.changed, file.changed) + 1))
                item = both
                state.ledger.merge(row(both), with: file.stamp, noting: received)
                return .merged
            }
            guard isNewer else {
                state.ledger.keep(Self.name, besides: received)
                return .nothing
            }
        }
        let placed = Item(parts: file.parts, mark: nextMark(), changed: file.changed)
        item = placed
        state.ledger.take(row(placed), file.stamp, noting: received)
        return .placed
    }
}

/// Devices, and every value that any of them set.
struct MergingWorld {
    static let parts: [ItemPart] = [.value, .comment, .label]
    var devices: [MergingDevice]
    var time: Int64 = 1000
    /// For each part, which values replaced which.
    private var replaced: [ItemPart: [PartValue: [PartValue]]] = [:]
    private var count = 0
    /// How many different values there are.
    let valuesMax: Int

    /// Devices that have the same item.
    init(skews: [Int64], valuesMax: Int = .max) {
        devices = skews.enumerated().map { MergingDevice(UInt8($0.offset + 1), skew: $0.element) }
        self.valuesMax = valuesMax
        for part in Self.parts { edit(part, by: 0) }
        for number in devices.indices { run(number) }
    }

    mutating func edit(_ part: ItemPart, by number: Int) {
        time += 10
        count += 1
        let value = PartValue(number: count, digest: UInt64(count % valuesMax) + 1)
        if let before = devices[number].item?.parts[part] { replaced[part, default: [:]][before, default: []].append(value) }
        devices[number].set([part: value], at: time)
    }

    mutating func run(_ number: Int, filesMax: Int = .max, killed: MergingDevice.Kill = .never) {
        time += 1
        let others = devices.indices.filter { $0 != number }.map { devices[$0] }
        devices[number].run(reading: others, filesMax: filesMax, at: time, killed: killed)
    }

    /// Runs all devices until nothing is left to read or write, and returns what is wrong then.
    /// - Parameter mayLose: Whether a change may have been lost to one of another part.
    mutating func end(mayLose: Bool = false) -> String? { synchronizeUntilStable() ? fault(mayLose: mayLose) : "they go on writing" }

    private mutating func synchronizeUntilStable() -> Bool {
        for _ in 0..<3 * devices.count {
            let before = devices.map(\.files.count)
            for number in devices.indices { run(number) }
            if devices.map(\.files.count) == before { return true }
        }
        return false
    }

    /// A description of how the devices differ, or of a change that was lost to one that did not change the same part; nil if all is well.
    private func fault(mayLose: Bool) -> String? {
        guard let item = devices[0].item else { return "the item is gone" }
        for device in devices.dropFirst() where device.item?.parts.mapValues(\.digest) != item.parts.mapValues(\.digest) {
            return "the devices differ"
        }
        guard !mayLose else { return nil }
        for (part, value) in item.parts {
            guard replaced[part]?[value] != nil else { continue }
            // The part has an earlier value again, unless another value that nothing replaced is equal.
            let all = Set(replaced[part, default: [:]].values.joined())
            let last = all.filter { replaced[part]?[$0] == nil }
            guard last.contains(where: { $0.digest == value.digest }) else { return "a change of the \(part) is lost" }
        }
        return nil
    }
}
