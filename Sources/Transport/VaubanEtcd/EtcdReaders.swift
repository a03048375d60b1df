/// The readers for the replies to the requests of `EtcdStore`. A reader throws `garbage` for an unexpected reply, so that the next node is
/// tried.
extension EtcdReply {
    /// Returns the keys of a page: in the range, in order, and without values. Otherwise a faulty node could keep the caller paging
    /// forever.
    package func keys(of range: EtcdKeyRange) throws(EtcdError) -> (keys: [[UInt8]], more: Bool) {
        let (rows, more) = try self.rows()
        guard rows.count <= EtcdLimits.keysOfPage, !rows.isEmpty || !more else { throw .garbage }
        var rest = range
        for row in rows {
            guard rest.contains(row.key), row.key.count <= EtcdLimits.keyBytesMax, row.value.isEmpty else { throw .garbage }
            rest = rest.after(row.key)
        }
        return (rows.map(\.key), more)
    }

    /// Returns the value of the one requested key; nil if it does not exist.
    package func value(of key: [UInt8]) throws(EtcdError) -> [UInt8]? {
        let (rows, more) = try self.rows()
        guard !more else { throw .garbage }
        return try Self.value(of: key, in: rows)
    }

    private static func value(of key: [UInt8], in rows: [Row]) throws(EtcdError) -> [UInt8]? {
        guard rows.count <= 1 else { throw .garbage }
        guard let row = rows.first else { return nil }
        guard row.key == key, row.value.count <= EtcdHead.valueBytesMax else { throw .garbage }
        return row.value
    }

    /// Throws unless a transaction without a condition was performed.
    package func success() throws(EtcdError) {
        guard try outcome().succeeded else { throw .garbage }
    }

    /// Returns the value that a transaction got for one key, if another key was absent; otherwise the row of that other key.
    package func value(of key: [UInt8], ifAbsent other: [UInt8]) throws(EtcdError) -> (value: [UInt8]?, isPresent: Bool) {
        let (succeeded, rows) = try outcome()
        guard succeeded else {
            _ = try Self.existingValues(of: [other], in: rows)
            return (nil, isPresent: true)
        }
        return (try Self.value(of: key, in: rows), isPresent: false)
    }

    /// Returns nil if the condition held that none of these keys exists; otherwise the values of those that do.
    package func existingValues(of keys: [[UInt8]]) throws(EtcdError) -> [[UInt8]: [UInt8]]? {
        let (succeeded, rows) = try outcome()
        return succeeded ? nil : try Self.existingValues(of: keys, in: rows)
    }

    private static func existingValues(of keys: [[UInt8]], in rows: [Row]) throws(EtcdError) -> [[UInt8]: [UInt8]] {
        let values = Dictionary(rows.map { ($0.key, $0.value) }) { first, _ in first }
        guard !rows.isEmpty, values.count == rows.count, rows.allSatisfy({ keys.contains($0.key) }) else { throw .garbage }
        return values
    }
}
