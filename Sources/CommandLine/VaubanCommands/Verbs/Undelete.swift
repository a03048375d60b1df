import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct Undelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restores an item that was deleted in the last thirty days.",
        discussion: """
            It comes back with the value and the protection that it had; its earlier values and what programs were permitted do not. \
            Of several with one name the last that was deleted is restored. Where another item has its name, nothing is done.

            Example:
              vauban list --deleted
              vauban undelete github/anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func run() throws {
        try selection.requireSomething()
        let session = try Session(user)
        let item = try session.deleted(selection, for: "undelete")
        do {
            try session.opening { try session.asking { try session.keychain.undelete(item, waiting: $0) } }
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            throw Refusal(
                .duplicateItem, "\(item.record.name) is the name of another item now; delete that one first, or give it another name")
        }
        say("\(item.record.name) is restored.")
    }
}

extension Session {
    /// The deleted items that are meant, without their secrets, the oldest first; those of other programs only where the owner is named.
    func deletedItems(_ selection: ItemSelection, ofAllOwners: Bool) throws -> [DeletedItem] {
        let all = try opening { try asking { try keychain.deletedItems(ofAllOwners: ofAllOwners, waiting: $0) } }
        return all.filter { selection.isEmpty || selection.fits($0.record) }
    }

    /// The one deleted item that is meant: of several with one name the last.
    func deleted(_ selection: ItemSelection, for verb: String) throws -> DeletedItem {
        let isForeign = selection.owner.map { $0 != AccessGroup.commandLine } ?? false
        let found = try deletedItems(selection, ofAllOwners: isForeign)
        guard let last = found.last else {
            throw Refusal(.itemNotFound, "no item of this name was deleted in the last thirty days; run: vauban list --deleted")
        }
        let others = found.map(\.record).filter { !$0.isSameItem(as: last.record) || $0.owner != last.record.owner }
        guard others.isEmpty else { throw SeveralMatches(verb: verb, records: others + [last.record]) }
        return last
    }
}

extension ItemSelection {
    /// Whether a record is one that the words mean, for what no query finds.
    fileprivate func fits(_ record: ItemRecord) -> Bool {
        guard kinds.contains(record.kind), means(record) else { return false }
        return attributes(of: record.kind).values.allSatisfy { name, wanted in
            (record.attributes[name]?.equalityBytes ?? []) == wanted.equalityBytes
        }
    }
}
