// Synchronized items, for the command line (Specs/sync.md).

package import VaubanKeychainWire
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSyncModel

extension KeychainClient {
    /// Passes a request about a circle to the enclave. An opened circle is used on this connection from then on; its keys are the entry's
    /// secret.
    package func circle(_ request: CircleRequest, waiting: Waiting? = nil) throws(Refusal) -> (
        reply: CircleReply, entry: ReplyEntry<SyncReply>
    ) {
        try circle(.circle(request), secret: nil, waiting)
    }

    /// Makes a token by which a device becomes a companion that receives the items of these rows. Prompts the user. The seed of its key is
    /// the entry's secret.
    package func makeToken(
        name: String, seconds: Int64, rows: [Int64], waiting: Waiting? = nil
    ) throws(Refusal) -> (reply: CircleReply, entry: ReplyEntry<SyncReply>) {
        try circle(.companion(.makeToken(name: name, seconds: seconds), rows: rows), secret: nil, waiting)
    }

    /// Requests to join a circle by a token. Prompts the user.
    package func redeem(_ token: [UInt8], seed: borrowing SecretBytes?, waiting: Waiting? = nil) throws(Refusal) -> CircleReply {
        try circle(.circle(.redeem(token: token)), secret: seed, waiting).reply
    }

    /// Finds the circle of a recovery key in the statement that made it, on this connection.
    package func findCircle(by statement: [UInt8], recoveryKey: borrowing SecretBytes?) throws(Refusal) -> CircleReply {
        try circle(.circle(.findByRecoveryKey(statement: statement)), secret: recoveryKey, nil).reply
    }

    /// Admits a companion, or changes its list, for the items of these rows. Prompts the user.
    package func changeCompanion(
        _ change: SyncRequest.CompanionChange, rows: [Int64], waiting: Waiting? = nil
    ) throws(Refusal) -> CircleReply {
        try circle(.companion(change, rows: rows), secret: nil, waiting).reply
    }

    private func circle(_ request: SyncRequest, secret: borrowing SecretBytes?, _ waiting: Waiting?) throws(Refusal) -> (
        reply: CircleReply, entry: ReplyEntry<SyncReply>
    ) {
        let replies = try call(.sync(request), secret: secret, password: nil, waiting: waiting).sync
        guard let entry = replies.first, case .circle(let reply) = entry.reply else {
            throw Refusal(.internalError, "the keychain said nothing of the circle")
        }
        return (reply, entry)
    }

    /// Returns the synchronizable items, and a number that grows with each call: a lower number than before comes from an earlier database.
    package func syncRows() throws(Refusal) -> (rows: [SyncRow], number: Int64) {
        var rows: [SyncRow] = []
        for entry in try call(.sync(.list), secret: nil, password: nil, waiting: nil).sync {
            switch entry.reply {
            case .rows(let some): rows += some
            case .listed(let number): return (rows, number)
            default: break
            }
        }
        throw Refusal(.internalError, "the keychain did not list all items")
    }

    /// Returns those of the given items that exist here and are synchronizable.
    package func syncRows(of items: [[UInt8]]) throws(Refusal) -> [SyncRow] {
        guard case .rows(let rows)? = try call(.sync(.listItems(items)), secret: nil, password: nil, waiting: nil).sync.first?.reply else {
            throw Refusal(.internalError, "the keychain did not list the items")
        }
        return rows
    }

    /// Returns the number of the last change of a synchronizable item that was not made for another device, and the items changed since
    /// `number`, as far as they are known. With `number`, waits until the current number differs, but no longer than some minutes. Each
    /// start of the service has numbers of its own.
    package func synchronizableChanges(since number: Int64? = nil) throws(Refusal) -> (number: Int64, items: [[UInt8]]?) {
        // This request can take as long as one that waits for the user.
        let replies = try call(.sync(.changes(since: number)), secret: nil, waiting: nil, progress: number.map { _ in { _ in } }).sync
        guard case .changes(let number, let items)? = replies.first?.reply else {
            throw Refusal(.internalError, "the service does not report changes; update Vauban")
        }
        return (number, items)
    }

    /// Returns the status of each of some items that were listed before, in the same order.
    package func itemStatuses(of items: [ItemStatusQuery]) throws(Refusal) -> [ItemStatus] {
        let reply = try call(.sync(.itemStatuses(items)), secret: nil, password: nil, waiting: nil).sync.first?.reply
        guard case .itemStatuses(let statuses)? = reply, statuses.count == items.count else {
            throw Refusal(.internalError, "the keychain did not report the outcome for an item")
        }
        return statuses
    }

    /// Copies as many of the rows, in their order, as fit into one reply: for the circle, or for one companion.
    package func copyForCircle(_ rows: [Int64], companion: [UInt8]? = nil) throws(Refusal) -> [ReplyEntry<SyncReply>] {
        let request = companion.map { SyncRequest.copyForCompanion(device: $0, rows) } ?? .copy(rows)
        return try call(.sync(request), secret: nil, password: nil, waiting: nil).sync
    }

    /// Returns the digests of the parts of those rows that are here.
    package func parts(of rows: [Int64]) throws(Refusal) -> [(row: Int64, mark: [UInt8], parts: PartDigests)] {
        try call(.sync(.parts(rows)), secret: nil, password: nil, waiting: nil).sync.compactMap { entry in
            if case .parts(let row, let mark, let parts) = entry.reply { (row: row, mark: mark, parts: parts) } else { nil }
        }
    }

    /// Stores an item of another device, unless its row has changed since it had this mark.
    /// - Parameters:
    ///   - merge: How it is merged with that row; nil if it replaces it.
    ///   - keepsReplaced: Whether what it replaces is kept in the history even if only attributes differ.
    package func put(
        _ item: BackupItem, rest: borrowing SecretBytes?, epoch: Int64, name: [UInt8], replacing mark: [UInt8]?,
        merging merge: PartMerge? = nil, keepsReplaced: Bool = false
    ) throws(Refusal) -> SyncOutcome {
        let request = KeychainRequest.sync(
            .put(item, epoch: epoch, name: name, replacing: mark, merging: merge, keepsReplaced: keepsReplaced))
        return try Self.outcome(try call(request, secret: rest, password: nil, waiting: nil).sync)
    }

    /// Stores items of another device that do not exist here yet, in one transaction. Returns the result for each; nil if one of them
    /// exists here already, in which case nothing is written.
    /// - Parameter rests: The rests of their secret halves, one after the other.
    package func putNew(_ items: [SyncedItem], rests: borrowing SecretBytes?) throws(Refusal) -> [SyncOutcome]? {
        let replies = try call(.sync(.putNew(items)), secret: rests, password: nil, waiting: nil).sync
        let outcomes = try replies.map { entry throws(Refusal) in try Self.outcome([entry]) }
        if outcomes == [.changedMeanwhile] { return nil }
        guard outcomes.count == items.count else { throw Refusal(.internalError, "the keychain did not report the outcome for an item") }
        return outcomes
    }

    /// Deletes an item that another device deleted, unless its row has changed since it had this mark.
    package func deleteSynchronized(item: [UInt8], mark: [UInt8]) throws(Refusal) -> SyncOutcome {
        try Self.outcome(try call(.sync(.delete(item: item, mark: mark)), secret: nil, password: nil, waiting: nil).sync)
    }

    private static func outcome(_ replies: [ReplyEntry<SyncReply>]) throws(Refusal) -> SyncOutcome {
        guard case .outcome(let outcome)? = replies.first?.reply else {
            throw Refusal(.internalError, "the keychain did not report the outcome for an item")
        }
        return outcome
    }
}
