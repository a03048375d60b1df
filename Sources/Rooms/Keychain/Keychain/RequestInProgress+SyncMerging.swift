// Merges an item of another device with the item here, if neither device knew of the other's change (Specs/sync.md, "Parts").

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSyncModel

extension RequestInProgress {
    /// Merges a received item with a row. Returns nil if the row has changed meanwhile.
    func merge(
        _ record: ItemRecord, value: borrowing PaddedValue, with existing: OpenedRow, by merge: PartMerge, _ digester: PartDigester
    ) throws -> SyncOutcome? {
        guard let own = try openValue(of: existing, reason: nil, mayPrompt: false) else { return nil }
        let received = digester.digests(of: record, value)
        let result =
            record.isOfSameItem(as: existing.record)
            ? merge.result(here: digester.digests(of: existing.record, own), received: received) : nil
        let (earlier, later) = merge.receivedWins ? (existing.record, record) : (record, existing.record)
        if let result, !result.fromEarlier.isEmpty, let both = try merged(result.fromEarlier, of: earlier, into: later) {
            let takesReceivedValue = merge.receivedWins != result.fromEarlier.contains(.value)
            // If the received change is the later one, the parts that both changed are replaced here.
            let isKept = merge.receivedWins && !result.contested.isEmpty
            let row =
                takesReceivedValue
                ? try replace(existing, by: both, value: value, isKept: isKept)
                : try replace(existing, by: both, value: own, isKept: isKept)
            return row.map {
                SyncOutcome.merged(MergedItem(.both, $0, changed: both.changed, received: received, contested: result.contested))
            }
        }
        // Parts that only the earlier change has cannot be stored beside the later change.
        let contested = result.flatMap { $0.fromEarlier.isEmpty ? $0.contested : nil }
        guard merge.receivedWins else {
            return .merged(MergedItem(.here, existing.row, changed: existing.record.changed, received: received, contested: contested))
        }
        return try replace(existing, by: record, value: value, isKept: true).map {
            SyncOutcome.merged(MergedItem(.received, $0, changed: record.changed, received: received, contested: contested))
        }
    }

    /// Returns the later record with parts of the earlier one, dated after both; nil if it would be too large.
    private func merged(_ parts: Set<ItemPart>, of earlier: ItemRecord, into later: ItemRecord) throws -> ItemRecord? {
        var both = later
        both.take(parts, of: earlier)
        both.attributes[.modificationDate] = .date(nextDate(after: .date(max(earlier.changed, later.changed))))
        do {
            try checkSize(both)
            return both
        } catch let refusal as Refusal where refusal.reason == .dataTooLarge {
            return nil
        }
    }
}

extension MergedItem {
    fileprivate init(_ content: Content, _ row: StoredRow, changed: Int64, received: PartDigests, contested: [ItemPart]?) {
        self.init(
            content: content, mark: RequestInProgress.mark(of: row.halves.metadataBinding), item: row.item, changed: changed,
            parts: received,
            contested: contested)
    }
}
