// Earlier values and deleted items, for the command line.

package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanRefusal
package import VaubanSecretBytes

extension KeychainClient {
    /// The earlier values of the one item that the query means, the newest first, without the values themselves.
    package func earlierValues(of query: ItemQuery, waiting: Waiting? = nil) throws(Refusal) -> [ItemVersion] {
        try ask(.list(query), waiting: waiting).versions
    }

    /// One earlier value; 1 is the one before the present one. Refused as `itemNotFound` where there are not so many.
    package func earlierValue(
        _ number: Int, of query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil
    ) throws(Refusal) -> FoundEntry {
        let found = try ask(.value(query, number: number), password: password, waiting: waiting).found
        guard let entry = found.first else { throw Refusal(.itemNotFound, "this earlier value is none") }
        return entry
    }

    /// Puts an earlier value back; the present one takes its place in the history.
    package func putBack(_ number: Int, of query: ItemQuery, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil)
        throws(Refusal)
    {
        _ = try ask(.undo(query, number: number), password: password, waiting: waiting)
    }

    /// The deleted items that can be restored, the oldest first.
    package func deletedItems(ofAllOwners: Bool, waiting: Waiting? = nil) throws(Refusal) -> [DeletedItem] {
        try ask(.deleted(ofAllOwners: ofAllOwners), waiting: waiting).deleted
    }

    /// Restores a deleted item; refused as `duplicateItem` where its name is taken.
    package func undelete(_ item: DeletedItem, waiting: Waiting? = nil) throws(Refusal) {
        _ = try ask(.undelete(item.item), waiting: waiting)
    }

    /// Destroys a deleted item.
    package func purge(_ item: DeletedItem, waiting: Waiting? = nil) throws(Refusal) { _ = try ask(.purge(item.item), waiting: waiting) }

    /// Destroys the earlier values of one item, or all that is kept of the caller's own; answers how many there were.
    package func clearHistory(of query: ItemQuery?, waiting: Waiting? = nil) throws(Refusal) -> Int {
        try ask(.clear(query), waiting: waiting).cleared ?? 0
    }

    /// Whether earlier values and deleted items are kept, after saying so where `isOn` is not nil.
    package func keepsHistory(_ isOn: Bool? = nil) throws(Refusal) -> Bool {
        guard let answer = try ask(.setting(isOn)).keepsHistory else {
            throw Refusal(.internalFault, "the keychain does not say whether it keeps earlier values")
        }
        return answer
    }

    private func ask(_ request: HistoryRequest, password: borrowing SecretBytes? = nil, waiting: Waiting? = nil) throws(Refusal) -> Outcome
    {
        let request = KeychainRequest.history(request, passwordBytes: try Self.passwordBytes(password))
        return try call(request, secret: nil, password: password, waiting: waiting)
    }
}
