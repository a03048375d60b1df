/// What each request of `EtcdStore` expects. A reader throws `garbage` for anything else, so that the next node is asked.
extension EtcdReply {
    /// Returns the keys of a page: in the range, in order, and without values. A node that sends anything else could go on forever.
    package func keys(of range: EtcdKeyRange) throws(EtcdFault) -> (keys: [[UInt8]], more: Bool) {
        let (rows, more) = try self.rows()
        guard rows.count <= EtcdLimits.keysOfPage, !rows.isEmpty || !more else { throw .garbage }
        var rest = range
        for row in rows {
            guard rest.contains(row.key), row.key.count <= EtcdLimits.keyBytesMax, row.value.isEmpty else { throw .garbage }
            rest = rest.after(row.key)
        }
        return (rows.map(\.key), more)
    }

    /// Returns the value of the one key that was asked for; nil if there is none.
    package func value(of key: [UInt8]) throws(EtcdFault) -> [UInt8]? {
        let (rows, more) = try self.rows()
        guard !more else { throw .garbage }
        return try Self.value(of: key, in: rows)
    }

    private static func value(of key: [UInt8], in rows: [Row]) throws(EtcdFault) -> [UInt8]? {
        guard rows.count <= 1 else { throw .garbage }
        guard let row = rows.first else { return nil }
        guard row.key == key, row.value.count <= EtcdHead.valueBytesMax else { throw .garbage }
        return row.value
    }

    /// Throws unless a transaction without a condition was performed.
    package func success() throws(EtcdFault) {
        guard try outcome().succeeded else { throw .garbage }
    }

    /// Returns the value of the one key that a transaction got, if another was absent, and otherwise the row of the other.
    package func value(of key: [UInt8], ifAbsent other: [UInt8]) throws(EtcdFault) -> (value: [UInt8]?, isPresent: Bool) {
        let (succeeded, rows) = try outcome()
        guard succeeded else {
            _ = try Self.inTheWay(of: [other], rows)
            return (nil, isPresent: true)
        }
        return (try Self.value(of: key, in: rows), isPresent: false)
    }

    /// Returns nil if the condition held that none of these keys is there, and otherwise the values of those that are.
    package func valuesInTheWay(of keys: [[UInt8]]) throws(EtcdFault) -> [[UInt8]: [UInt8]]? {
        let (succeeded, rows) = try outcome()
        return succeeded ? nil : try Self.inTheWay(of: keys, rows)
    }

    private static func inTheWay(of keys: [[UInt8]], _ rows: [Row]) throws(EtcdFault) -> [[UInt8]: [UInt8]] {
        let values = Dictionary(rows.map { ($0.key, $0.value) }) { first, _ in first }
        guard !rows.isEmpty, values.count == rows.count, rows.allSatisfy({ keys.contains($0.key) }) else { throw .garbage }
        return values
    }
}
