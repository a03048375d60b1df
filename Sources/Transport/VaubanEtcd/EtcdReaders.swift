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
        guard rows.count <= 1, !more else { throw .garbage }
        guard let row = rows.first else { return nil }
        guard row.key == key, row.value.count <= EtcdHead.valueBytesMax else { throw .garbage }
        return row.value
    }

    /// Throws unless a transaction without a condition was performed.
    package func success() throws(EtcdFault) {
        guard try outcome().succeeded else { throw .garbage }
    }

    /// Returns nil if the condition held that there is no such key, and otherwise its value.
    package func valueInTheWay(of key: [UInt8]) throws(EtcdFault) -> [UInt8]? {
        let (succeeded, rows) = try outcome()
        guard !succeeded else { return nil }
        guard rows.count == 1, let row = rows.first, row.key == key else { throw .garbage }
        return row.value
    }
}
