import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainClient

struct DeleteItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes an item.",
        discussion: """
            There is no way back. Where more than one item matches, they are listed and none is deleted.

            Example:
              vauban delete github/anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        let query = session.query(for: try session.one(selection, for: "delete"))
        try session.opening { try session.keychain.delete(query) }
    }
}
