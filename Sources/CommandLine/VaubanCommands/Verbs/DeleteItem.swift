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
        abstract: "Deletes an item.",
        discussion: """
            The item can be restored for thirty days (vauban undelete); with --now it is gone at once, and so is what was deleted \
            under this name before. On a terminal it shows the item and asks first; --yes does not, nor does a script without a \
            terminal. Where more than one item matches, they are listed and none is deleted. An item of another program is named with its \
            owner, and you are asked, to look for it and to delete it.

            Example:
              vauban delete github/anna
              vauban delete github/anna --now
              vauban delete mail/anna --owner program:/usr/bin/mail
            """)

    @Flag(help: "Delete without asking.")
    var yes = false

    @Flag(help: "Destroy it at once: nothing restores it.")
    var now = false

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        guard let (record, isForeign) = try theItem(session) else {
            guard now, !selection.isEmpty else { throw Refusal(.itemNotFound) }
            // What is meant may be among the deleted items alone.
            let deleted = try session.deleted(selection, for: "delete").record
            try confirm(deleted, session)
            return try purge(deleted, session)
        }
        try confirm(record, session)
        let query = isForeign ? record.namesake(ofAnyOwner: false) : session.query(for: record)
        if isForeign {
            try session.opening { try session.asking { try session.keychain.delete(query, atOnce: now, waiting: $0) } }
        } else {
            try session.opening { try session.keychain.delete(query, atOnce: now) }
        }
        if now { try purge(record, session) }
    }

    /// The one item that is meant, and whether another program keeps it; nil where there is none. One of another program is looked at
    /// first, which the user is asked about like the list of all owners: what is deleted must be the item that the words mean.
    private func theItem(_ session: Session) throws -> (ItemRecord, isForeign: Bool)? {
        do {
            return (try session.one(selection, for: "delete"), false)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            guard selection.owner != nil, session.service.mode == .system else { return nil }
        }
        let found = try session.matches(selection, ofAllOwners: true)
        guard let record = found.first else { return nil }
        guard found.count == 1 else { throw SeveralMatches(verb: "delete", records: found) }
        return (record, true)
    }

    /// Destroys what was deleted under this name before.
    private func purge(_ record: ItemRecord, _ session: Session) throws {
        let isForeign = selection.owner.map { $0 != AccessGroup.commandLine } ?? false
        for item in try session.deletedItems(selection, ofAllOwners: isForeign)
        where item.record.isSameItem(as: record) && item.record.owner == record.owner {
            try session.opening { try session.asking { try session.keychain.purge(item, waiting: $0) } }
        }
    }

    /// Shows the item and asks, where somebody is there: a script that deletes has said what it means.
    private func confirm(_ record: ItemRecord, _ session: Session) throws {
        guard !yes, let terminal = session.user.terminal else { return }
        terminal.write("\(record.summary)\n")
        guard terminal.readWord("\(now ? "Destroy it at once" : "Delete it")? Type yes (anything else cancels): ") == "yes" else {
            throw Refusal(.cancelled, "nothing was deleted")
        }
    }
}
