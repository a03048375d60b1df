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
    /// requires it. Returns a notice for the user.
    package func edit(
        _ page: ItemPage, to draft: ItemDraft, code: ItemRow?, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws -> String {
        let changes = try draft.changes(to: page)
        guard !changes.isEmpty else { return "Saved." }
        var query = query(for: page.row)
        query.operationPrompt = Self.reason("edit", page.row)
        do throws(Refusal) {
            try keychain.update(query, ItemChanges(attributes: changes), secret: nil, waiting: waiting, cancellation: cancellation)
        } catch {
            throw Self.naming(error, "another item has this name and user name; nothing was changed")
        }
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

    /// Deletes an item, unless the call is cancelled. A password can be restored for thirty days.
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

/// An earlier value of an item.
package struct EarlierValue: Hashable, Sendable {
    /// 1 is the value before the current one.
    package let number: Int
    /// When it was replaced, in words.
    package let replaced: String
}

extension ItemKeychain {
    /// Returns the earlier values of an item, newest first.
    package func earlierValues(of row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws -> [EarlierValue] {
        let versions: [ItemVersion]
        do throws(Refusal) {
            versions = try keychain.earlierValues(of: query(for: row), waiting: waiting, cancellation: cancellation)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
            return []
        }
        return versions.enumerated().map { index, version in
            EarlierValue(number: index + 1, replaced: ItemPage.text(ofTime: version.replaced))
        }
    }

    package func earlierSecret(
        _ value: EarlierValue, of row: ItemRow, for verb: String, waiting: @escaping Waiting, cancellation: CallCancellation
    ) throws -> ItemSecret {
        var query = query(for: row)
        query.operationPrompt = Self.reason("\(verb) an earlier password of", row)
        let entry = try keychain.earlierValue(value.number, of: query, waiting: waiting, cancellation: cancellation)
        guard let secret = entry.takeSecret() else {
            throw Refusal(.itemNotFound, "The item had no secret at that time")
        }
        return ItemSecret(secret)
    }

    /// Restores an earlier value; the current one becomes the newest earlier value.
    package func putBack(_ value: EarlierValue, of row: ItemRow, waiting: @escaping Waiting, cancellation: CallCancellation) throws {
        var query = query(for: row)
        query.operationPrompt = Self.reason("restore an earlier password of", row)
        try keychain.putBack(value.number, of: query, waiting: waiting, cancellation: cancellation)
    }
}
