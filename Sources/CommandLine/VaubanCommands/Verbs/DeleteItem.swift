import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

struct DeleteItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an item.",
        discussion: """
            You can restore a password for thirty days with vauban undelete, unless the history is off (vauban settings); --now destroys \
            it at once, together with earlier deleted items of that name. On a terminal, shows the item and asks first, unless --yes is \
            given. If more than one item matches, lists them and deletes none. To delete an item of another program, name its --owner; \
            you approve the search and the deletion.

            Example:
              vauban delete github/anna
              vauban delete github/anna --now
              vauban delete mail/anna --owner program:/usr/bin/mail
            """)

    @Flag(help: "Skip confirmation.")
    var yes = false

    @Flag(help: "Destroy the item at once; it cannot be restored.")
    var now = false

    @OptionGroup var selection: ItemSelection
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try surplus.requireNone(after: selection, for: "delete")
    }

    func run() throws {
        let client = try ServiceClient(user)
        guard let (record, isForeign) = try theItem(client) else {
            // The item may exist only among the deleted ones.
            guard now else { throw client.noItem(selection, otherVerb: "delete") }
            let deleted = try client.deleted(selection, for: "delete").record
            try confirm(deleted, client)
            return try purge(deleted, client)
        }
        try confirm(record, client)
        let query = try isForeign ? record.namesake(ofAnyOwner: false) : client.query(for: record)
        if isForeign {
            try client.withUnlock { try client.withPrompts { try client.keychain.delete(query, atOnce: now, waiting: $0) } }
        } else {
            try client.withUnlock { try client.keychain.delete(query, atOnce: now) }
        }
        if now { try purge(record, client) }
        if !isForeign { client.reportAttachedItemsLeft(byDeleting: record) }
    }

    /// Returns the selected item and whether another program owns it, or nil if there is none. An item of another program is read first,
    /// which needs the user's consent, so that exactly the selected item is deleted.
    private func theItem(_ client: ServiceClient) throws -> (ItemRecord, isForeign: Bool)? {
        do {
            return (try client.one(selection, for: "delete"), false)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            guard selection.owner != nil, client.service.mode == .system else { return nil }
        }
        let found = try client.matches(selection, ofAllOwners: true)
        guard let record = found.first else { return nil }
        guard found.count == 1 else { throw SeveralMatches(verb: "delete", records: found) }
        return (record, true)
    }

    /// Destroys earlier deleted items of the same name.
    private func purge(_ record: ItemRecord, _ client: ServiceClient) throws {
        let isForeign = selection.owner.map { $0 != AccessGroup.commandLine } ?? false
        for item in try client.deletedItems(selection, ofAllOwners: isForeign)
        where item.record.isSameItem(as: record) && item.record.owner == record.owner {
            try client.withUnlock { try client.withPrompts { try client.keychain.purge(item, waiting: $0) } }
        }
    }

    /// Shows the item and prompts for confirmation on a terminal; in a script, running the command is the confirmation.
    private func confirm(_ record: ItemRecord, _ client: ServiceClient) throws {
        guard !yes, let terminal = client.user.terminal else { return }
        terminal.write("\(record.summary)\n")
        guard terminal.readWord("\(now ? "Destroy it at once" : "Delete it")? Type yes to confirm: ") == "yes" else {
            throw Refusal(.cancelled, "nothing was deleted")
        }
    }
}
