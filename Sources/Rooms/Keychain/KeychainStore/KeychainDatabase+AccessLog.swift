// The access log as it is stored (Specs/access-log.md): sealed records, each chained to the one before, and the sealed first keys of their
// series.

internal import Foundation
internal import GRDB

/// A record of the access log.
package struct LogRow: Hashable, Sendable {
    package let number: Int64
    /// The number of the first record of its series.
    package let series: Int64
    package let sealed: [UInt8]
    package let chain: [UInt8]

    package init(number: Int64, series: Int64, sealed: [UInt8], chain: [UInt8]) {
        self.number = number
        self.series = series
        self.sealed = sealed
        self.chain = chain
    }
}

/// Records without a gap of another series between them.
package struct LogPart: Hashable, Sendable {
    package let series: Int64
    /// The numbers of the first record and the last.
    package let first: Int64
    package let last: Int64
}

/// Records to be appended in one transaction, all of one series.
package struct LogAddition: Hashable, Sendable {
    package let rows: [LogRow]
    /// The first key of the series, sealed, if these are its first records.
    package let key: [UInt8]?
    /// The number of the last record that the enclave knows, which stays.
    package let anchored: Int64
    /// The uses of canaries since the last addition, and the number of the first record with one.
    package let alerts: Int64
    package let firstAlert: Int64?

    package init(rows: [LogRow], key: [UInt8]?, anchored: Int64, alerts: Int64 = 0, firstAlert: Int64? = nil) {
        self.rows = rows
        self.key = key
        self.anchored = anchored
        self.alerts = alerts
        self.firstAlert = firstAlert
    }
}

extension KeychainDatabase {
    /// How many records are kept, the newest.
    package static let logRecordsMax: Int64 = 50_000
    /// The bytes of all records together.
    package static let logBytesMax: Int64 = 32 << 20
    /// The longest sealed record. A removal leaves at most that less than the limit.
    private static let logRowBytesMax: Int64 = (16 << 10) + 28
    /// How many records are written between two removals of old ones.
    private static let logRecordsBetweenRemovals: Int64 = 500

    /// Returns the last record; nil if there is none.
    package func lastLogRow() throws(StorageError) -> LogRow? { try logRows(before: nil, count: 1).first }

    /// Returns up to `count` records, the newest first: those numbered below `number`, or the last ones if it is nil. Ends after the one
    /// with which they have `bytesMax`.
    package func logRows(before number: Int64?, count: Int, bytesMax: Int = .max) throws(StorageError) -> [LogRow] {
        try logRows(
            sql: "SELECT number, series, sealed, chain FROM log WHERE number < ? AND \(Self.isNumbered) ORDER BY number DESC LIMIT ?",
            from: number ?? Self.logNumbersEnd, count: count, bytesMax: bytesMax)
    }

    /// Returns up to `count` records in their order: those numbered above `number`.
    package func logRows(after number: Int64, count: Int) throws(StorageError) -> [LogRow] {
        try logRows(
            sql: "SELECT number, series, sealed, chain FROM log WHERE number > ? AND \(Self.isNumbered) ORDER BY number LIMIT ?",
            from: number, count: count, bytesMax: .max)
    }

    /// No log record has this number or a higher one.
    private static let logNumbersEnd: Int64 = 1 << 48
    /// The condition for rows that are log records. Whoever can write the file can add other rows, which must affect neither the size of
    /// the log nor its oldest record.
    private static let isNumbered = "number > 0 AND number < \(logNumbersEnd)"

    private func logRows(sql: String, from number: Int64, count: Int, bytesMax: Int) throws(StorageError) -> [LogRow] {
        try read { database in
            var rows: [LogRow] = []
            var bytes = 0
            try database.forEachRow(sql, parameters: [.number(number), .number(Int64(count))]) { row in
                let found = LogRow(number: row.number(0), series: row.number(1), sealed: row.bytes(2), chain: row.bytes(3))
                rows.append(found)
                bytes += found.sealed.count
                return bytes < bytesMax
            }
            return rows
        }
    }

    /// Returns the chain of a record; nil if there is no such record.
    package func logChain(at number: Int64) throws(StorageError) -> [UInt8]? {
        try logRows(after: number - 1, count: 1).first.flatMap { $0.number == number ? $0.chain : nil }
    }

    /// Returns whether old records may have been removed before this one, the oldest: only if the existing ones reach a limit.
    package func mayHaveRemovedLogRows(before oldest: Int64) throws(StorageError) -> Bool {
        guard let last = try lastLogRow()?.number else { return true }
        if last - oldest + 1 >= Self.logRecordsMax { return true }
        let bytes = try read { database in
            var bytes: Int64 = 0
            try database.forEachRow("SELECT coalesce(sum(length(sealed)), 0) FROM log WHERE \(Self.isNumbered)") { row in
                bytes = row.number(0)
                return false
            }
            return bytes
        }
        return bytes > Self.logBytesMax - Self.logRowBytesMax
    }

    /// Returns whether there are rows whose numbers no log record has. Vauban writes none.
    package func hasLogRowsOfOtherNumbers() throws(StorageError) -> Bool {
        let sql = "SELECT EXISTS(SELECT 1 FROM log WHERE number <= 0) OR EXISTS(SELECT 1 FROM log WHERE number >= \(Self.logNumbersEnd))"
        return try read { try $0.isTrue(sql, []) }
    }

    /// Returns the sealed first key of a series; nil if it is not there.
    package func logKey(of series: Int64) throws(StorageError) -> [UInt8]? {
        try read { database in
            var sealed: [UInt8]?
            try database.forEachRow("SELECT key FROM log_series WHERE first = ?", parameters: [.number(series)]) { row in
                sealed = row.bytes(0)
                return false
            }
            return sealed
        }
    }

    /// Returns the last record numbered below `number`, or of all, with those of its series before it; nil if there is none.
    package func logPart(before number: Int64?) throws(StorageError) -> LogPart? {
        try read { database in
            let end = number ?? Self.logNumbersEnd
            var last: (number: Int64, series: Int64)?
            try database.forEachRow(
                "SELECT number, series FROM log WHERE number < ? AND \(Self.isNumbered) ORDER BY number DESC LIMIT 1",
                parameters: [.number(end)]
            ) { row in
                last = (row.number(0), row.number(1))
                return false
            }
            guard let last else { return nil }
            var other: Int64 = 0
            try database.forEachRow(
                "SELECT number FROM log WHERE number < ? AND \(Self.isNumbered) AND series <> ? ORDER BY number DESC LIMIT 1",
                parameters: [.number(last.number), .number(last.series)]
            ) { row in
                other = row.number(0)
                return false
            }
            var first = last.number
            try database.forEachRow("SELECT number FROM log WHERE number > ? ORDER BY number LIMIT 1", parameters: [.number(other)]) {
                row in
                first = row.number(0)
                return false
            }
            return LogPart(series: last.series, first: first, last: last.number)
        }
    }

    /// Returns the sealed last uses that are kept for a series; nil if there are none.
    package func logUses(of series: Int64) throws(StorageError) -> [UInt8]? {
        try read { database in
            var sealed: [UInt8]?
            try database.forEachRow("SELECT sealed FROM log_uses WHERE series = ?", parameters: [.number(series)]) { row in
                sealed = row.bytes(0)
                return false
            }
            return sealed
        }
    }

    /// Keeps the sealed last uses of those of these series that the log still has.
    package func store(logUses: [Int64: [UInt8]]) throws(StorageError) {
        try write { database in
            for (series, sealed) in logUses {
                try database.run(
                    "INSERT OR REPLACE INTO log_uses(series, sealed) SELECT first, ? FROM log_series WHERE first = ?",
                    [.bytes(sealed), .number(series)])
            }
            return ((), .commit)
        }
    }

    /// Appends records in a transaction of their own.
    package func append(_ addition: LogAddition) throws(StorageError) {
        try write { database in
            try Self.append(addition, in: database)
            return ((), .commit)
        }
    }

    // MARK: Parts of a transaction

    static func append(_ addition: LogAddition?, in database: Database) throws {
        guard let addition, let last = addition.rows.last else { return }
        if let key = addition.key, let first = addition.rows.first {
            try database.run("INSERT OR REPLACE INTO log_series(first, key) VALUES (?, ?)", [.number(first.series), .bytes(key)])
        }
        for row in addition.rows {
            try database.run(
                "INSERT INTO log(number, series, sealed, chain) VALUES (?, ?, ?, ?)",
                [.number(row.number), .number(row.series), .bytes(row.sealed), .bytes(row.chain)])
        }
        try countAlerts(of: addition, in: database)
        guard last.number % logRecordsBetweenRemovals < Int64(addition.rows.count) else { return }
        try removeOldRows(before: last.number, anchored: addition.anchored, in: database)
    }

    /// Removes the records beyond the limits, except the one at the anchor and those after it, and the keys of series without records.
    private static func removeOldRows(before last: Int64, anchored: Int64, in database: Database) throws {
        try database.run("DELETE FROM log WHERE \(isNumbered) AND number <= ?", [.number(min(last - logRecordsMax, anchored - 1))])
        let sizes = "SELECT number, sum(length(sealed)) OVER (ORDER BY number DESC) AS bytes FROM log WHERE \(isNumbered)"
        try database.run(
            "DELETE FROM log WHERE \(isNumbered) AND number < ? AND number <= (SELECT max(number) FROM (\(sizes)) WHERE bytes > ?)",
            [.number(anchored), .number(logBytesMax)])
        // The lowest series, since an altered record can name a later series than its own.
        try database.run("DELETE FROM log_series WHERE first < (SELECT min(series) FROM log WHERE \(isNumbered))", [])
        try database.run("DELETE FROM log_uses WHERE series NOT IN (SELECT first FROM log_series)", [])
    }
}
