import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verifies every item and index, puts right what it can, and keeps a verified copy.",
        discussion: """
            Each item is opened as far as that asks nobody; items whose class is locked are counted and left. What does not \
            open is put aside, never deleted. Where everything verifies, a copy of the database is kept; --restore puts it in \
            the place of a database that is damaged, after showing what that means. The end is 0 when all is good, 1 when \
            something was found, or no copy could be kept.

            Example:
              vauban doctor
              vauban doctor --json
              vauban doctor --restore
            """)

    @Flag(
        help:
            """
            Put the last verified copy in the place of a damaged database: what was added since is lost, what was deleted since comes \
            back.
            """
    )
    var restore = false

    @Flag(help: "With --restore: do not ask for the word; for scripts.")
    var yesRestore = false

    @Flag(help: "One JSON document, for a program.")
    var json = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if json, restore { throw ValidationError("--json tells of a look at everything; --restore is none.") }
        if yesRestore, !restore { throw ValidationError("--yes-restore goes with --restore.") }
    }

    func run() throws {
        let session = try Session(user)
        if restore { return try putBack(session) }
        let progress = Progress()
        let report = try session.keychain.examine { report in
            progress.show("Looked at \(report.checked + report.locked) of \(report.rows) items")
        }
        progress.clear()
        if json {
            print(try ItemDescription.json(DoctorDocument(report)))
        } else {
            for line in DoctorText.lines(report) { print(line) }
        }
        if !report.isGood { throw ExitCode(1) }
    }

    private func putBack(_ session: Session) throws {
        let copy = try session.keychain.restorableCopy()
        for line in DoctorText.lines(copy) { say(line) }
        if !yesRestore {
            guard let terminal = session.user.terminal else {
                throw Refusal(
                    .interactionNotAllowed, "no terminal to ask whether to go on; where nobody can be asked, say so: --yes-restore")
            }
            guard terminal.readWord("To go on, type restore (anything else cancels): ") == "restore" else {
                throw Refusal(.cancelled, "nothing was put back")
            }
        }
        try session.asking { try session.keychain.restore(copy, waiting: $0) }
        say("The copy of \(StatusText.time(copy.date)) is in place. CallerSnapshot at it: vauban doctor")
    }
}
