internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainWire
internal import VaubanRefusal

/// Opens log records in the order of their numbers.
struct LogOpener {
    private let database: KeychainDatabase
    private let enclave: any EnclaveOperations
    private var series: Int64 = 0
    /// The first key of the series that was requested last; nil if it does not open.
    private var first: (series: Int64, key: SeriesKey?)?
    /// The key of the record with this number; nil if the series does not open.
    private var key: SeriesKey?
    private var number: Int64 = 0

    init(_ database: KeychainDatabase, _ enclave: any EnclaveOperations) {
        self.database = database
        self.enclave = enclave
    }

    /// Returns a record; nil if it does not open. Throws while the keychain is locked.
    mutating func open(_ row: LogRow) throws -> AccessRecord? { try key(of: row)?.open(row) }

    /// Returns a record that is not decoded yet; nil if it does not open. Throws while the keychain is locked.
    mutating func opened(_ row: LogRow) throws -> OpenedRecord? { try key(of: row)?.opened(row) }

    private mutating func key(of row: LogRow) throws -> SeriesKey? {
        guard (1...AccessLogEnd.numberMax).contains(row.series), row.number >= row.series,
            row.number - row.series < KeychainLimits.logSeriesNumbersMax
        else { return nil }
        if row.series != series || row.number < number {
            series = row.series
            number = row.series
            key = try firstKey(of: series)
        }
        while number < row.number, let known = key {
            key = known.successor()
            number += 1
        }
        return key
    }

    /// Returns the key of the first record of a series; nil if it does not open. Throws while the keychain is locked.
    mutating func firstKey(of series: Int64) throws -> SeriesKey? {
        if let first, first.series == series { return first.key }
        let key = try openedKey(of: series)
        first = (series, key)
        return key
    }

    private func openedKey(of series: Int64) throws -> SeriesKey? {
        guard let sealed = try database.logKey(of: series), sealed.count == EnclaveRequest.sealedSeriesKeyBytes else { return nil }
        do {
            return SeriesKey(try enclave.openSeriesKey(sealed))
        } catch let refusal as Refusal where refusal.reason == .keyDestroyed {
            return nil
        }
    }
}
