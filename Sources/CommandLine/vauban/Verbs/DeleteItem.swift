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
            program is named with its owner, and you are asked first.

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

    private func deleteForeign(_ session: Session) throws {
        for kind in selection.kinds {
            let query = ItemQuery(kind: kind, attributes: selection.attributes(of: kind))
            do {
                return try session.opening { try session.asking { try session.keychain.delete(query, waiting: $0) } }
            } catch let refusal as Refusal where refusal.reason == .itemNotFound {}
        }
        throw Refusal(.itemNotFound)
    }
}
