import Enclave

// What the implementation did to its disk, in order, and the model's claim about each of these actions. The model determines what is
// written and when; the disk determines how a write ends.

/// A difference between the implementation and the model; the text helps to find the reason.
struct Difference: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

struct StorageEvent: Hashable {
    enum End: Hashable { case durable, full, failed, unsure }

    enum Action: Hashable {
        case wrote(StateName, [UInt8], End)
        case read(StateName, succeeded: Bool)
        case listed(succeeded: Bool)
        case putAside(StateName)
        /// A passcode was derived into its key: a comparison may follow.
        case tangled
    }

    let action: Action
    /// The number of disk steps by then.
    let steps: Int
}

/// The two files of a user: the present content, and what a power cut may leave instead.
struct StoredFiles {
    struct Version<Value: Hashable>: Hashable {
        let bytes: [UInt8]?
        let value: Value?
    }

    /// The present content comes first.
    var bags: [Version<Bag>] = [Version(bytes: nil, value: nil)]
    var records: [Version<Record>] = [Version(bytes: nil, value: nil)]

    var bag: Bag? { bags[0].value }
    var record: Record? { records[0].value }

    mutating func applyExpirations() {
        bags = [bags[0]]
        records = [records[0]]
    }

    func only(_ bag: Version<Bag>, _ record: Version<Record>) -> StoredFiles {
        var files = StoredFiles()
        (files.bags, files.records) = ([bag], [record])
        return files
    }
}

struct Tape {
    private let events: [StorageEvent]
    private var next = 0
    private(set) var stored: StoredFiles
    /// The files at first and after each event that may have changed them, with the number of disk steps by then.
    private(set) var history: [(files: StoredFiles, steps: Int)]
    /// The number of disk steps at each comparison of a passcode.
    private(set) var comparisons: [Int] = []

    init(_ events: [StorageEvent], from stored: StoredFiles) {
        self.events = events
        self.stored = stored
        history = [(stored, 0)]
    }

    mutating func write(_ bag: Bag) throws -> StorageEvent.End {
        let (bytes, end, steps) = try written(.keybag)
        switch end {
        case .durable:
            stored.applyExpirations()
            stored.bags = [StoredFiles.Version(bytes: bytes, value: bag)]
        case .unsure: stored.bags.insert(StoredFiles.Version(bytes: bytes, value: bag), at: 0)
        case .full, .failed: break
        }
        history.append((stored, steps))
        return end
    }

    mutating func write(_ record: Record) throws -> StorageEvent.End {
        let (bytes, end, steps) = try written(.attempts)
        switch end {
        case .durable:
            stored.applyExpirations()
            stored.records = [StoredFiles.Version(bytes: bytes, value: record)]
        case .unsure: stored.records.insert(StoredFiles.Version(bytes: bytes, value: record), at: 0)
        case .full, .failed: break
        }
        history.append((stored, steps))
        return end
    }

    private mutating func written(_ name: StateName) throws -> ([UInt8], StorageEvent.End, Int) {
        let event = try take("write \(name)")
        guard case .wrote(name, let bytes, let end) = event.action else { throw unexpected(event, "write \(name)") }
        return (bytes, end, event.steps)
    }

    /// Returns whether the file could be read. What was read is durable.
    mutating func read(_ name: StateName) throws -> Bool {
        let event = try take("read \(name)")
        guard case .read(name, let succeeded) = event.action else { throw unexpected(event, "read \(name)") }
        if succeeded {
            stored.applyExpirations()
            history.append((stored, event.steps))
        }
        return succeeded
    }

    mutating func list() throws -> Bool {
        let event = try take("list what was set aside")
        guard case .listed(let succeeded) = event.action else { throw unexpected(event, "list what was set aside") }
        return succeeded
    }

    mutating func tangle() throws {
        let event = try take("derive a key")
        guard event.action == .tangled else { throw unexpected(event, "derive a key") }
    }

    /// Records the comparison of a passcode. The order of the tape shows that its count was durable before.
    mutating func compare() throws {
        try tangle()
        comparisons.append(events[next - 1].steps)
    }

    func throwIfNotAtItsEnd() throws {
        guard next == events.count else { throw Difference("beyond the model: \(Self.words(events[next]))") }
    }

    private mutating func take(_ wanted: String) throws -> StorageEvent {
        guard next < events.count else { throw Difference("the model expects: \(wanted); nothing more happened") }
        next += 1
        return events[next - 1]
    }

    private func unexpected(_ event: StorageEvent, _ wanted: String) -> Difference {
        Difference("the model expects: \(wanted); what happened: \(Self.words(event))")
    }

    private static func words(_ event: StorageEvent) -> String {
        if case .wrote(let name, _, let end) = event.action { return "write \(name), \(end)" }
        return "\(event.action)"
    }
}
