import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct Undelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete",
        abstract: "Restore an item that was deleted in the last thirty days.",
        discussion: """
            Restores the secret, the earlier secrets and the protection, but no permissions. If several deleted items have the name, \
            restores the last one. Exits 45 if another item has the name now. With the history off (vauban settings), nothing is kept.

            Example:
              vauban list --deleted
              vauban undelete github/anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try surplus.requireNone(after: selection, for: "undelete")
    }

    func run() throws {
        let client = try ServiceClient(user)
        let item = try client.deleted(selection, for: "undelete")
        do {
            try client.withUnlock { try client.withPrompts { try client.keychain.undelete(item, waiting: $0) } }
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            throw Refusal(
                .duplicateItem, "Another item is named \(item.record.name) now; delete or rename it first")
        }
        say("\(item.record.name) is restored.")
    }
}

extension ServiceClient {
    /// Returns the selected deleted items without their secrets, oldest first; items of other programs only if the owner is named.
    func deletedItems(_ selection: ItemSelection, ofAllOwners: Bool) throws -> [DeletedItem] {
        let all = try withUnlock { try withPrompts { try keychain.deletedItems(ofAllOwners: ofAllOwners, waiting: $0) } }
        return all.filter { selection.isEmpty || selection.fits($0.record) }
    }

    /// Returns the selected deleted item: the last one if several have the same name.
    func deleted(_ selection: ItemSelection, for verb: String) throws -> DeletedItem {
        let isForeign = selection.owner.map { $0 != AccessGroup.commandLine } ?? false
        let found = try deletedItems(selection, ofAllOwners: isForeign)
        guard let last = found.last else {
            throw Refusal(.itemNotFound, "No item \(selection.shown) was deleted in the last thirty days; run: vauban list --deleted")
        }
        let others = found.map(\.record).filter { !$0.isSameItem(as: last.record) || $0.owner != last.record.owner }
        guard others.isEmpty else { throw SeveralMatches(verb: verb, records: others + [last.record]) }
        return last
    }
}

extension ItemSelection {
    /// Whether the selection matches a record, for items that no query finds.
    fileprivate func fits(_ record: ItemRecord) -> Bool {
        guard kinds.contains(record.kind), means(record) else { return false }
        return attributes(of: record.kind).allSatisfy { name, wanted in
            (record.attributes[name]?.equalityBytes ?? []) == wanted.equalityBytes
        }
    }
}
