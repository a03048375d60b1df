internal import GRDB

/// The state of the history in memory, which spares updates and reads a query.
struct HistoryState {
    /// Whether earlier values and deleted items are kept.
    var isOn = true
    /// The date of the oldest deleted item; nil if there is none.
    var oldestDeleted: Int64?
    /// An upper bound of the bytes in each owner's rows; nil if they have not been counted yet.
    var bytes: [String: Int]?
    /// The time by which deleted items expire; nil before the first request.
    var retention: RetentionTime?
    /// That time as it is stored; nil if it is not.
    var storedTime: Int64?

    init() {}

    init(_ database: Database) throws {
        isOn = try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'history'") != 0
        oldestDeleted = try Self.oldestDeleted(database)
        storedTime = try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'retention'")
    }

    /// Moves the time by which deleted items expire, and returns it.
    mutating func advance(now: Int64, boot: Int64) -> Int64 {
        var retention = retention ?? RetentionTime(stored: storedTime, now: now, boot: boot)
        retention.advance(now: now, boot: boot)
        if oldestDeleted == nil { retention.skip(to: now) }
        self.retention = retention
        return retention.time
    }

    /// The time to store, and whether it is earlier than the stored one. Nil if it has advanced by less than a day, or if there are no
    /// deleted items.
    var timeToStore: (time: Int64, isEarlier: Bool)? {
        guard oldestDeleted != nil, let time = retention?.time else { return nil }
        guard let storedTime else { return (time, false) }
        let next = storedTime.addingReportingOverflow(RetentionTime.dayMicroseconds).partialValue
        return time < storedTime || time >= next ? (time, time < storedTime) : nil
    }

    /// Returns the label of an item that is being deleted, which no clock that is behind makes expire earlier. Also returns the time to
    /// store if no other deleted item is known, or none is stored.
    func deletion(_ label: HistoryLabel) -> (label: HistoryLabel, timeToStore: Int64?) {
        let time = retention?.time ?? storedTime ?? label.date
        let dated = HistoryLabel(date: max(label.date, time), owner: label.owner)
        return (dated, oldestDeleted == nil || storedTime == nil ? time : nil)
    }

    static func oldestDeleted(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT min(date) FROM history WHERE state = 2")
    }
}
