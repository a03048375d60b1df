import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
package import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

extension ItemKeychain {
    /// Adds a password; returns its row, and a description of what was generated. Once cancelled, it adds nothing.
    package func add(
        _ item: NewItem, _ secret: NewSecret, cancellation: CallCancellation
    ) throws -> (row: ItemRow, summary: String?) {
        let record = try item.record()
        let made = try secret.make(for: item.server)
        let added: ReceivedItem?
        try cancellation.check()
        do throws(Refusal) {
            added = try keychain.add(
                record, secret: made.secret.bytes.duplicate(), returns: [.reference], cancellation: cancellation)
        } catch {
            throw Self.naming(error, "“\(item.place)” has a password of this user name")
        }
        guard let reference = added?.reference else { throw Refusal(.internalError, "the keychain did not name the new item") }
        return (ItemRow(record, reference: reference), made.summary)
    }

    /// Returns a refusal of a name that is in use, with what uses it.
    static func naming(_ refusal: Refusal, _ detail: String) -> Refusal {
        refusal.reason == .duplicateItem && refusal.detail == nil ? Refusal(.duplicateItem, detail) : refusal
    }

    /// Changes the names of a password, and those of its one-time code, which is found by them; the service prompts the user if an item
    /// requires it. Returns a notice for the user. Overwrites nothing that was changed elsewhere since the page was read.
    package func edit(
        _ page: ItemPage, to draft: ItemDraft, code: ItemRow?, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws -> String {
        let changes = try draft.changes(to: page)
        guard !changes.isEmpty else { return "Saved." }
        try update(page, to: changes, waiting: waiting, cancellation: cancellation)
        guard let code, let codeRecord = try? record(of: code) else { return "Saved." }
        let codeChanges = draft.codeChanges(codeRecord, from: page.record, changes: changes)
        guard !codeChanges.isEmpty else { return "Saved." }
        guard try !hasOther(page.login) else { return "Saved. Its one-time code stayed with the other password of its old name." }
        var codeQuery = self.query(for: code)
        codeQuery.operationPrompt = Self.reason("rename the one-time code of", page.row)
        do throws(Refusal) {
            try keychain.update(codeQuery, ItemChanges(attributes: codeChanges), secret: nil, waiting: waiting, cancellation: cancellation)
            return "Saved, with its one-time code."
        } catch {
            let why = Self.naming(error, "another one has the new name").message
            return "Saved. Its one-time code kept the old name: \(why)"
        }
    }

    /// How often an update is tried again because something else about the item was changed meanwhile.
    private static let roundsMax = 16

    /// Changes attributes of an item, unless one of them is no longer as the page shows it.
    private func update(
        _ page: ItemPage, to changes: ItemAttributes, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws {
        var query = query(for: page.row)
        query.operationPrompt = Self.reason("edit", page.row)
        var before: ItemRecord?
        for _ in 0..<Self.roundsMax {
            guard let present = try record(of: page.row), present != before else { throw Refusal(.itemNotFound) }
            before = present
            try page.throwIfChanged(changes.names, in: present)
            // Every change of an item changes its date, so the query matches the item only as it was just read.
            query.attributes[.modificationDate] = present.attributes[.modificationDate]
            do throws(Refusal) {
                return try keychain.update(
                    query, ItemChanges(attributes: changes), secret: nil, waiting: waiting, cancellation: cancellation)
            } catch {
                guard error.reason == .itemNotFound else {
                    throw Self.naming(error, "another item has this name and user name; nothing was changed")
                }
            }
        }
        throw Refusal(.unavailable, "Other programs keep changing the item; try again")
    }

    /// Returns whether another password of this name and user name exists; it shares the one-time code.
    private func hasOther(_ login: ItemLogin) throws(Refusal) -> Bool {
        var others = 0
        for kind in [ItemKind.genericPassword, .internetPassword] {
            var query = ItemQuery(kind: kind, attributes: ItemAttributes([.account: .text(login.account)]))
            query.limit = .all
            query.returns = [.attributes]
            query.includesSynchronizable = true
            query.authenticationUI = .describe
            for entry in try found(query) {
                if let record = entry.record, ItemSection(of: record) == .passwords, ItemLogin(record) == login { others += 1 }
            }
        }
        return others > 0
    }

    /// Replaces the secret of a password, which becomes an earlier value; returns a description of what was generated.
    package func replaceSecret(
        of page: ItemPage, with secret: NewSecret, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws -> String? {
        let made = try secret.make(for: page.server)
        var query = query(for: page.row)
        query.operationPrompt = Self.reason("replace the password of", page.row)
        let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        try keychain.update(query, changes, secret: made.secret.bytes.duplicate(), waiting: waiting, cancellation: cancellation)
        return made.summary
    }

    /// Returns whether an item can be restored after a deletion: a password for thirty days, unless the keychain keeps no history.
    package func keepsDeleted(_ page: ItemPage) throws -> Bool { try page.isPassword && keepsHistory() }

    /// Deletes an item, unless the call is cancelled.
    package func delete(_ row: ItemRow, cancellation: CallCancellation) throws {
        try cancellation.check()
        try keychain.delete(query(for: row))
    }

    /// Restores an item that was just deleted.
    package func undelete(_ row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws {
        let deleted = try keychain.deletedItems(ofAllOwners: false, waiting: waiting, cancellation: cancellation)
        guard let item = deleted.last(where: { $0.item == row.reference }) else {
            throw Refusal(.itemNotFound, "The item can no longer be restored")
        }
        try keychain.undelete(item, waiting: waiting, cancellation: cancellation)
    }
}

extension CallCancellation {
    /// Throws `cancelled` if the call was cancelled.
    func check() throws(Refusal) { if isCancelled { throw Refusal(.cancelled) } }
}
