// Earlier values and deleted items, for the command connection.

package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// An item and its earlier versions, without their values.
package struct ItemVersions: Hashable, Sendable {
    /// The item as it is now.
    package let present: ItemRecord
    /// The newest first.
    package let earlier: [ItemVersion]
}

extension KeychainClient {
    /// Returns the one matching item and its earlier versions, without their values.
    package func versions(of query: ItemQuery, waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal)
        -> ItemVersions
    {
        let outcome = try ask(.list(query), waiting: waiting, cancellation)
        guard let present = outcome.found.first?.record else {
            throw Refusal(.internalError, "the service did not describe the item; update Vauban")
        }
        return ItemVersions(present: present, earlier: outcome.versions)
    }

    /// Returns the earlier versions of the one matching item, newest first, without their values.
    package func earlierValues(of query: ItemQuery, waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal)
        -> [ItemVersion]
    {
        try versions(of: query, waiting: waiting, cancellation: cancellation).earlier
    }

    /// Returns one earlier value; 1 is the one before the current value. Throws `itemNotFound` if there are fewer.
    package func earlierValue(
        _ number: Int, of query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil,
        cancellation: CallCancellation? = nil
    ) throws(Refusal) -> ReceivedItem {
        let found = try ask(.value(query, number: number), password: password, waiting: waiting, cancellation).found
        guard let entry = found.first else { throw Refusal(.itemNotFound, "No such earlier secret; to list them: vauban history NAME") }
        return entry
    }

    /// Restores an earlier value; the current one becomes part of the history.
    package func putBack(
        _ number: Int, of query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil,
        cancellation: CallCancellation? = nil
    ) throws(Refusal) {
        _ = try ask(.undo(query, number: number), password: password, waiting: waiting, cancellation)
    }

    /// Returns the deleted items that can be restored, oldest first.
    package func deletedItems(ofAllOwners: Bool, waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal)
        -> [DeletedItem]
    {
        try ask(.deleted(ofAllOwners: ofAllOwners), waiting: waiting, cancellation).deleted
    }

    /// Restores a deleted item; throws `duplicateItem` if an item of that name exists.
    package func undelete(_ item: DeletedItem, waiting: Waiting? = nil, cancellation: CallCancellation? = nil) throws(Refusal) {
        _ = try ask(.undelete(item.item), waiting: waiting, cancellation)
    }

    /// Erases a deleted item.
    package func purge(_ item: DeletedItem, waiting: Waiting? = nil) throws(Refusal) { _ = try ask(.purge(item.item), waiting: waiting) }

    /// Erases the earlier values of one item, or of all items of the caller; returns their number.
    package func clearHistory(of query: ItemQuery?, waiting: Waiting? = nil) throws(Refusal) -> Int {
        guard case .cleared(let count)? = try ask(.clear(query), waiting: waiting).reply else { return 0 }
        return count
    }

    /// Returns whether earlier values and deleted items are kept; sets it first if `isOn` is not nil.
    package func keepsHistory(_ isOn: Bool? = nil) throws(Refusal) -> Bool {
        guard case .keepsHistory(let answer)? = try ask(.setting(isOn)).reply else {
            throw Refusal(.internalError, "the service did not report whether it keeps earlier secrets; update Vauban")
        }
        return answer
    }

    private func ask(
        _ request: HistoryRequest, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil, _ cancellation: CallCancellation? = nil
    ) throws(Refusal) -> Outcome {
        let request = KeychainRequest.history(request, passwordBytes: try Self.passwordBytes(password))
        return try call(request, secret: nil, password: password, waiting: waiting, cancellation)
    }
}
