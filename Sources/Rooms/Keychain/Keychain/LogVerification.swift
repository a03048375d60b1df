// Verifies the records of the access log in their order, and finds those that do not follow the previous one, or do not open
// (Specs/access-log.md).

internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainWire

struct LogVerification {
    private var opener: LogOpener
    /// The number of the record up to which the enclave vouches for the chain; 0 if it knows none.
    private let anchored: Int64
    private(set) var faults: [AccessLogFault] = []
    /// The last record that was verified, and whether it opens.
    private(set) var last: LogRow?
    private var lastOpens = false

    init(_ opener: LogOpener, anchored: Int64) {
        self.opener = opener
        self.anchored = anchored
    }

    /// Verifies the next record. Opens it, unless the chain up to the anchor proves that it is unchanged, and the previous record opened
    /// with a key of the same series: the chain does not cover the keys of series.
    mutating func take(_ row: LogRow) throws {
        let fault = faultOfChain(row)
        let isVouchedFor = last?.series == row.series && lastOpens && fault == nil && row.number <= anchored
        lastOpens = if isVouchedFor { true } else { try opener.opened(row) != nil }
        last = row
        if let fault { faults.append(fault) }
        // An altered record does not open either, so it is reported once.
        if !lastOpens, fault?.kind != .broken { addUnreadable(row.number) }
    }

    private func faultOfChain(_ row: LogRow) -> AccessLogFault? {
        guard let last else { return nil }
        // After a gap, the log continues after the log record that the enclave knew at that time.
        guard row.number == last.number + 1 else { return AccessLogFault(.missingBefore, number: row.number) }
        let end = AccessLogEnd(number: last.number, chain: last.chain)
        return end.adding(row.link).chain == row.chain ? nil : AccessLogFault(.broken, number: row.number)
    }

    /// Reports consecutive records as one fault.
    private mutating func addUnreadable(_ number: Int64) {
        guard let before = faults.last, before.kind == .unreadable, before.numbers.upperBound == number - 1 else {
            return faults.append(AccessLogFault(.unreadable, number: number))
        }
        faults[faults.count - 1] = AccessLogFault(.unreadable, number: before.number, last: number)
    }
}
