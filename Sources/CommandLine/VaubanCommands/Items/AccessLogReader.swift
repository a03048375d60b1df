// Reads the access log page by page, from its end.

import VaubanKeychainClient
package import VaubanKeychainWire
package import VaubanRefusal

package struct AccessLogReader {
    private let ofAllOwners: Bool
    /// Returns a page of the log.
    private let page: (AccessLogQuery) throws(Refusal) -> AccessLogPage

    package init(ofAllOwners: Bool = false, page: @escaping (AccessLogQuery) throws(Refusal) -> AccessLogPage) {
        self.ofAllOwners = ofAllOwners
        self.page = page
    }

    init(keychain: KeychainClient, ofAllOwners: Bool = false, waiting: KeychainClient.Waiting? = nil) {
        self.init(ofAllOwners: ofAllOwners) { (query) throws(Refusal) -> AccessLogPage in
            try keychain.accessLogPage(query, waiting: waiting)
        }
    }

    /// The output of vauban log: uses, oldest first, and the faults of the log.
    package struct Excerpt {
        package var uses: [RecordedUse] = []
        package var faults: [String] = []
        /// The number of the oldest record that is kept, and of the last one.
        var oldest: Int64 = 0
        var lastNumber: Int64 = 0
        /// The number of matching records that were read.
        var recordCount: Int64 = 0
    }

    /// Returns the last uses that the filter includes. Does not end at a record from before the time of the filter: the clock may have been
    /// set since.
    /// - Parameters:
    ///   - number: Only records with greater numbers count.
    ///   - verifies: Whether the whole log is verified.
    package func uses(
        matching filter: AccessLogFilter, limit: Int, after number: Int64 = 0, verifies: Bool = false
    ) throws(Refusal) -> Excerpt {
        var excerpt = Excerpt()
        var found = FoundUses(filter)
        var unreadable: ClosedRange<Int64>?
        /// The ranges that the verification reports as unreadable.
        var known: [ClosedRange<Int64>] = []
        /// Reports the last log records that cannot be read, as one range.
        func reportUnreadable() {
            if let unreadable, !known.contains(where: { $0.contains(unreadable.lowerBound) && $0.contains(unreadable.upperBound) }) {
                excerpt.faults.append(AccessLogFault.unreadable(unreadable))
            }
            unreadable = nil
        }
        var query = AccessLogQuery(coversAllOwners: ofAllOwners, verifies: verifies)
        while true {
            let page = try page(query)
            if query.before == nil {
                excerpt.lastNumber = page.records.first?.number ?? 0
                excerpt.oldest = page.oldest
                excerpt.faults = page.faults.map(\.sentence)
                known = page.faults.filter { $0.kind == .unreadable }.map(\.numbers)
            }
            for record in page.records where record.number > number {
                excerpt.recordCount += 1
                if record.record == nil, !record.isHidden {
                    unreadable = record.number...(unreadable?.upperBound ?? record.number)
                } else {
                    reportUnreadable()
                }
                if let unrecorded = record.record?.unrecorded, unrecorded > 0 {
                    excerpt.faults.append(Self.unrecorded(unrecorded, before: record.number))
                }
                if let content = record.record { found.add(content, number: record.number) }
            }
            guard let last = page.records.last?.number, last > max(page.oldest, number + 1), found.count < limit else { break }
            query = AccessLogQuery(before: last, coversAllOwners: ofAllOwners)
        }
        reportUnreadable()
        excerpt.uses = found.uses.prefix(limit).reversed()
        return excerpt
    }

    private static func unrecorded(_ uses: Int64, before number: Int64) -> String {
        "\(count(Int(clamping: uses), "use")) before log record \(number) \(uses == 1 ? "was" : "were") not recorded: "
            + "the disk was full, the log had no key, or too many programs used keys at once."
    }
}

/// The uses that were found, the newest first, with the items that the filter means.
private struct FoundUses {
    private let filter: AccessLogFilter
    private var all: [RecordedUse] = []
    /// The number of uses that match by their own names; later log records may name more of them.
    private(set) var count = 0
    /// Items that had the wanted name at some time.
    private var wanted: Set<[UInt8]> = []
    private var names: [[UInt8]: String] = [:]

    init(_ filter: AccessLogFilter) { self.filter = filter }

    mutating func add(_ record: AccessRecord, number: Int64) {
        for item in record.items.reversed() {
            if !item.item.isEmpty, !item.name.isEmpty {
                if names[item.item] == nil { names[item.item] = item.name }
                if filter.item != nil, filter.includes(itemNamed: item.name) { wanted.insert(item.item) }
            }
            guard filter.includes(record), filter.includes(item) else { continue }
            if filter.includes(itemNamed: item.name) || wanted.contains(item.item) { count += 1 }
            all.append(RecordedUse(number: number, record: record, item: item, name: item.name))
        }
    }

    /// The uses that the filter includes. An item that was not opened when it was deleted has its name from another record.
    var uses: [RecordedUse] {
        all.filter { filter.includes(itemNamed: $0.name) || wanted.contains($0.item.item) }.map { use in
            var named = use
            if use.name.isEmpty { named.name = names[use.item.item] ?? "" }
            return named
        }
    }
}

extension AccessLogFault {
    var sentence: String {
        switch kind {
        case .missingBefore:
            "Log records are missing before \(number). Unless you restored the keychain from a copy, they were removed. "
                + "This is shown until \(number) is too old to be kept."
        case .broken: "Log record \(number) does not follow the one before it: the log was altered."
        case .missingAtEnd:
            "Log records up to \(number) are missing at the end. Unless you restored the keychain from a copy, they were removed."
        case .replaced: "Log record \(number) is not the one that the enclave knows: the log was altered."
        case .unreadable: Self.unreadable(numbers)
        case .otherNumbers:
            "The log has log records with numbers that Vauban never gives: another program wrote them. "
                + "They hide nothing. This is shown until the keychain is erased."
        }
    }

    static func unreadable(_ numbers: ClosedRange<Int64>) -> String {
        numbers.count == 1
            ? "Log record \(numbers.lowerBound) cannot be read: it was altered, or its key was erased with a keychain."
            : "Log records \(numbers.lowerBound) to \(numbers.upperBound) cannot be read: they were altered, or their keys were erased "
                + "with a keychain."
    }
}
