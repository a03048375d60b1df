// Which changes were made by devices that did not know of each other's (Specs/sync.md, "Conflicts").

/// Two changes of one item whose makers did not know of each other's, by which of them counts.
package enum SyncConflict: Hashable, Sendable {
    /// The other device's change replaces this device's.
    case replaced
    /// The other device's deletion deletes the item that was changed here.
    case deleted
    /// The other device's change brings back the item that was deleted or renamed here.
    case returned
    /// This device's change replaces the other device's.
    case kept
}

extension SyncLedger {
    /// Returns the conflict of another device's change with this device's, if the ledger can tell that neither device knew of the other's
    /// change. Notes a change that this device's replaces, so that it is returned once, even if it is read again.
    ///
    /// Call this before `decision` is carried out.
    /// - Parameters:
    ///   - changed: When the item was changed, as the device that wrote the change says.
    ///   - isItem: Whether the change is no deletion.
    package mutating func noteConflict(on name: [UInt8], _ incoming: SyncStamp, changed: Int64, isItem: Bool) -> SyncConflict? {
        // This device's own file: a run that was killed has written it.
        if entries[name]?.stamp == incoming { entries[name]?.isUnsent = false }
        noteSent(name, incoming)
        // With the same date, the change is of the same item state, such as one that both devices restored from a backup.
        guard let entry = entries[name], entry.stamp.device == device, incoming.device != device, entry.changed != changed else {
            return nil
        }
        let isItemHere = entry.mark != nil
        if entry.stamp < incoming {
            // Nobody knows a change that was not sent. Whether the other device knew one that was sent, its stamp does not tell.
            guard entry.isUnsent, isItem || isItemHere else { return nil }
            if !isItem { return .deleted }
            return isItemHere ? .replaced : .returned
        }
        // Had the other device known this change, its own would have a later stamp.
        guard entry.base.map({ $0 < incoming }) ?? true else { return nil }
        entries[name]?.base = incoming
        return isItem && isItemHere ? .kept : nil
    }

    /// Lets no change that is here now, or was written before, count as a conflict: this device does not remember what it knew when it made
    /// its changes.
    package mutating func forgetConflicts() {
        for (name, entry) in entries where entry.stamp.device == device {
            entries[name]?.isUnsent = false
            entries[name]?.base = entry.stamp
        }
    }
}
