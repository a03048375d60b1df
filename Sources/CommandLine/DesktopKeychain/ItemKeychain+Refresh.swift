import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

/// The end of the access log when a list was read: later log records name the items that have changed since.
package struct ListMark: Hashable, Sendable {
    fileprivate let number: Int64
}

extension ItemKeychain {
    /// Below this number of items a list is always read as a whole.
    private static let itemsReadAsWhole = 2000
    /// The most changed items that are read one by one.
    private static let changesMax = 256

    /// Returns the end of the access log; nil if it cannot be read.
    package func mark() -> ListMark? {
        guard let page = try? keychain.accessLogPage(AccessLogQuery()) else { return nil }
        return ListMark(number: page.records.first?.number ?? 0)
    }

    /// Returns a list in its current state, and its mark. For a long list, reads only the items that the access log names, or all items if
    /// the log does not name everything that changed.
    package func refreshed(_ list: ItemList, since mark: ListMark?) throws -> (items: ItemList, mark: ListMark?) {
        if list.count >= Self.itemsReadAsWhole, let mark, let changes = changes(since: mark) {
            var refreshed = list
            for row in changes.rows { refreshed = refreshed.replacing(row, with: try record(of: row)) }
            return (refreshed, changes.mark)
        }
        let mark = self.mark()
        return (try self.list(), mark)
    }

    /// Returns a list with the current state of one item.
    package func refreshed(_ list: ItemList, at row: ItemRow) throws -> ItemList { list.replacing(row, with: try record(of: row)) }

    /// Returns the items that have changed since; nil if the log does not name all of them.
    private func changes(since mark: ListMark) -> (rows: [ItemRow], mark: ListMark)? {
        guard let page = try? keychain.accessLogPage(AccessLogQuery()) else { return nil }
        let last = page.records.first?.number ?? 0
        guard last >= mark.number else { return nil }
        let later = page.records.prefix { $0.number > mark.number }
        guard later.count < page.records.count || mark.number == 0 else { return nil }
        var changed: [[UInt8]: ItemKind] = [:]
        // Other owners' items are not in the list.
        for record in later where !record.isHidden {
            guard let content = record.record, content.unrecorded == 0 else { return nil }
            guard [.added, .changed, .deleted].contains(content.action) else { continue }
            for item in content.items {
                guard item.item.count == 16, let kind = ItemKind(nameable: item.kind) else { return nil }
                changed[item.item] = kind
            }
        }
        guard changed.count <= Self.changesMax else { return nil }
        return (changed.map { ItemRow(kind: $1, reference: $0) }, ListMark(number: last))
    }
}
