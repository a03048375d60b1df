// A log record to which uses are added, and how much of the log it takes.

internal import VaubanDER
internal import VaubanKeychainWire
internal import VaubanPlainText

/// A log record to which uses are added until it is sealed. It never becomes larger than its units.
struct RecordDraft {
    private(set) var record: AccessRecord
    /// The units of the log that it takes.
    private(set) var units: UInt64
    /// The most bytes that it can have with the items that it names.
    private var bytes: Int

    init(_ record: AccessRecord) {
        self.record = record
        bytes = Self.bytesMax(of: record)
        units = Self.units(of: bytes)
    }

    /// Creates a draft of one unit. As far as necessary, omits the parents and the commands, and shortens the program's path in the middle.
    init(shortened whole: AccessRecord) {
        self.init(whole)
        if units > 1, !record.parents.isEmpty {
            record.parents = []
            self = RecordDraft(record)
        }
        if units > 1, let program = record.program {
            record.program = program.shortened
            self = RecordDraft(record)
        }
    }

    /// Adds an item. Returns false if there is no room, or if `pay` returns false for the additional units that the item takes.
    mutating func add(_ item: UsedItem, began: Int64, ended: Int64, paying pay: (UInt64) -> Bool) -> Bool {
        if let index = record.items.firstIndex(where: { $0.item == item.item && $0.name == item.name && $0.owner == item.owner }) {
            record.items[index].count += item.count
            if item.isCanary { record.items[index].isCanary = true }
        } else {
            // The last place is reserved for further items.
            guard record.items.count < AccessRecord.itemsMax - 1, record.items.last?.isFurther != true else { return false }
            let grown = bytes + Self.bytesMax(of: item)
            let needed = Self.units(of: grown)
            if needed > units {
                guard pay(needed - units) else { return false }
                units = needed
            }
            bytes = grown
            record.items.append(item)
        }
        record.began = min(record.began, began)
        record.ended = max(record.ended, ended)
        return true
    }

    /// Adds an item of a process with these parents without taking more units: if there is no room, its uses are only counted.
    mutating func sum(_ item: UsedItem, began: Int64, ended: Int64, parents: [String]) {
        if record.parents != parents { record.parents = [] }
        if !add(item, began: began, ended: ended, paying: { _ in false }) { addFurther(item.count, ended: ended) }
    }

    /// Adds the uses of items that are not named.
    private mutating func addFurther(_ count: Int64, ended: Int64) {
        if record.items.last?.isFurther == true {
            record.items[record.items.count - 1].count += count
        } else {
            record.items.append(.further(count))
        }
        record.ended = max(record.ended, ended)
    }

    // MARK: Sizes

    /// Two lengths in front of other fields take up to this many bytes more if there are items.
    private static let lengthBytesMax = 4

    /// Returns the most bytes of a record: with times and counts as large as they can become, and a last entry for further items.
    private static func bytesMax(of record: AccessRecord) -> Int {
        var largest = record
        largest.began = .min
        largest.ended = .max
        largest.items = []
        let empty = encodedBytes(of: largest) + lengthBytesMax
        return record.items.reduce(empty + bytesMax(of: .further(.max))) { $0 + bytesMax(of: $1) }
    }

    private static func bytesMax(of item: UsedItem) -> Int {
        var largest = item
        largest.count = .max
        largest.isCanary = true
        return encodedBytes(of: largest)
    }

    /// What cannot be encoded is not sealed either.
    private static func encodedBytes(of value: some DERWritable) -> Int {
        (try? value.encoded().count) ?? KeychainLimits.logRecordBytesMax
    }

    private static func units(of bytes: Int) -> UInt64 {
        UInt64(max(1, SeriesKey.paddedBytes(of: bytes) / KeychainLimits.logUnitBytes))
    }
}

extension AccessProgram {
    /// The program in a log record of one unit.
    fileprivate var shortened: AccessProgram {
        AccessProgram(
            application: application, path: PlainLine.bothEnds(path, bytesMax: Self.textBytesMax),
            throughCommandLine: throughCommandLine, commands: [])
    }
}
