import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanSecretBytes

struct GetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints a secret, and nothing else.",
        discussion: """
            A newline is added only on a terminal. Where the item asks for you, you are asked here or at an approver; so are \
            you where another program keeps it.

            Example:
              vauban get github/anna
              vauban get --server example.com --account anna
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var person: PersonOptions

    func run() throws {
        let session = try Session(person)
        let entry: FoundEntry
        do {
            entry = try session.read(try session.one(selection, for: "get"), selection)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound {
            entry = try foreign(session)
        }
        guard let secret = entry.takeSecret() else { throw Refusal(.itemNotFound, "the item has no secret") }
        let isComplete = secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        guard isComplete else { throw Refusal(.storageFailed, "the secret could not be written to standard output") }
        if isatty(STDOUT_FILENO) == 1 { print() }
    }

    /// What is nowhere in the installed keychain may be in the person's older one, which that does not show. Said at every
    /// miss: the first one may be a script's, whose words nobody reads.
    private func foreign(_ session: Session) throws -> FoundEntry {
        do {
            return try session.readForeign(selection)
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && refusal.detail == nil {
            guard let own = OwnKeychain.behind(session.service), !own.isAdopted else { throw refusal }
            throw Refusal(.itemNotFound, own.mention)
        }
    }
}
