// Limits of the history.

internal import GRDB

/// The limits of the history, in one place (Specs/history.md).
package enum HistoryLimits {
    /// Earlier values of one item, and deleted items of one name.
    package static let valuesMax = 10
    /// How long a deleted item can be restored: thirty days.
    package static let deletedMicroseconds: Int64 = 30 * 24 * 3600 * 1_000_000
    /// The bytes of the earlier values and deleted items of one owner, and of all owners of a user.
    package static let ownerBytesMax = 16 << 20
    package static let userBytesMax = 64 << 20
    /// Expired rows that one transaction removes.
    static let purgedRowsMax = 256

    static func isExceeded(_ bytes: [String: Int]) -> Bool {
        bytes.values.contains { $0 > ownerBytesMax } || bytes.values.reduce(0, +) > userBytesMax
    }
}

enum HistoryAllowance {
    /// Removes rows until every limit holds, with some margin for a limit that did not. Returns the remaining bytes of each owner.
    static func hold(_ database: Database) throws -> [String: Int] {
        var bytes: [String: Int] = [:]
        try database.forEachRow("SELECT owner, sum(bytes) FROM history GROUP BY owner") { sum in
            if let owner = sum.text(0) { bytes[owner] = Int(sum.number(1)) }
            return true
        }
        while HistoryLimits.isExceeded(bytes) {
            let owners = bytes.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
            let (owner, most) = owners[0]
            let second = owners.count > 1 ? owners[1].value : 0
            let goal = most > HistoryLimits.ownerBytesMax ? HistoryLimits.ownerBytesMax / 4 * 3 : max(second, most - most / 4) - 1
            bytes[owner] = try trim(owner, from: most, to: goal, database)
        }
        return bytes
    }

    private static func trim(_ owner: String, from bytes: Int, to goal: Int, _ database: Database) throws -> Int {
        var left = bytes
        var last: Int64 = 0
        try database.forEachRow("SELECT id, bytes FROM history WHERE owner = ? ORDER BY id", parameters: [.text(owner)]) { row in
            guard left > goal else { return false }
            last = row.number(0)
            left -= Int(row.number(1))
            return true
        }
        try database.execute(sql: "DELETE FROM history WHERE owner = ? AND id <= ?", arguments: [owner, last])
        return left
    }
}
