import ArgumentParser
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Verify every item and index, repair what can be repaired, and keep a verified copy.",
        discussion: """
            Opens each item as far as that needs no approval; locked items are counted and skipped. Items that do not open are set \
            aside, never deleted. If everything verifies, keeps a copy of the database; --restore replaces a damaged database with \
            it, after showing what that means. Also says when the last backup was made, when this device last synchronized if it is in a \
            circle, which browsers are enabled, and which programs are the Secret Service, KWallet and the SSH agent of this session. \
            Exits 0 if everything verifies, 1 if something was found or no copy could be kept.

            Example:
              vauban doctor
              vauban doctor --json
              vauban doctor --restore
            """)

    @Flag(
        help:
            """
            Replace a damaged database with the last verified copy: items added since are lost, items deleted since come back.
            """
    )
    var restore = false

    @Flag(help: "With --restore: skip confirmation.")
    var yesRestore = false

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if json, restore { throw ValidationError("--json reports a verification; it cannot be combined with --restore") }
        if yesRestore, !restore { throw ValidationError("--yes-restore requires --restore") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        if restore { return try putBack(client) }
        let progress = Progress()
        let report = try client.keychain.examine { report in
            progress.show("Verified \(report.checked + report.locked) of \(report.rows) items")
        }
        progress.clear()
        if json {
            print(try ItemDescription.json(DoctorDocument(report)))
        } else {
            for line in DoctorText.lines(report) { print(line) }
            print(
                StatusText.row("Last backup", DoctorText.lastBackup(LastBackup.read(of: client.service), UserTimer.calendar(of: .backup))))
            if SyncHome.isInCircle(client) {
                let last = SyncHome.lastSync(of: client.service)
                print(StatusText.row("Last sync", DoctorText.lastSync(last, UserTimer.calendar(of: .sync))))
            }
            if let browsers = try? BrowserEnabling.current().summary { print(StatusText.row("Browsers", browsers)) }
            // Without a session bus there is no owner to print.
            if case .success(let owner) = Result(catching: { try SecretServiceOwner.current() }) {
                print(StatusText.row("Secret Service", DoctorText.secretService(owner)))
                if let words = DoctorText.wallets(try? SecretServiceOwner.ofWallets()) { print(StatusText.row("KWallet", words)) }
            }
            if let words = DoctorText.sshAgent(SSHAgentOwner.current()) { print(StatusText.row("SSH agent", words)) }
        }
        if !report.isGood { throw ExitCode(1) }
    }

    private func putBack(_ client: ServiceClient) throws {
        let copy = try client.keychain.restorableCopy()
        for line in DoctorText.lines(copy) { say(line) }
        if !yesRestore {
            guard let terminal = client.user.terminal else {
                throw Refusal(
                    .interactionNotAllowed, "No terminal to ask for confirmation; to confirm in advance: --yes-restore")
            }
            guard terminal.readWord("Type restore to confirm: ") == "restore" else {
                throw Refusal(.cancelled, "nothing was restored")
            }
        }
        try client.withPrompts { try client.keychain.restore(copy, waiting: $0) }
        say("The copy of \(StatusText.time(copy.date)) is restored. To verify it: vauban doctor")
    }
}
