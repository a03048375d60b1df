import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost

struct DeleteItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes an item.",
        discussion: """
            There is no way back. Where more than one item matches, they are listed and none is deleted. An item of another \
            program is named with its owner, and you are asked, to look for it and to delete it.

            Example:
              vauban delete github/anna
              vauban delete mail/anna --owner program:/usr/bin/mail
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        do {
            let query = session.query(for: try session.one(selection, for: "delete"))
            try session.opening { try session.keychain.delete(query) }
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && selection.owner != nil && session.service.mode == .system {
            try deleteForeign(session)
        }
    }

    /// Looked at first, which the person is asked about like the list of all owners: what is deleted must be the one item that
    /// the words mean.
    private func deleteForeign(_ session: Session) throws {
        let found = try session.matches(selection, ofAllOwners: true)
        guard let record = found.first else { throw Refusal(.itemNotFound) }
        guard found.count == 1 else { throw SeveralMatches(verb: "delete", records: found) }
        let query = record.namesake(ofAnyOwner: false)
        try session.opening { try session.asking { try session.keychain.delete(query, waiting: $0) } }
    }
}
