import ArgumentParser
import Glibc
import VaubanAccessPolicy
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
        let secret = try Session(person).secret(selection, for: "get", reason: "get \(selection.shown)")
        let isComplete = secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
        guard isComplete else { throw Refusal(.storageFailed, "the secret could not be written to standard output") }
        if isatty(STDOUT_FILENO) == 1 { print() }
    }
}
