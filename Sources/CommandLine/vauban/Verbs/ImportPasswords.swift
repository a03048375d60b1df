import ArgumentParser
import VaubanAccessPolicy
import VaubanSecretBytes

struct ImportPasswords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Takes in what vauban export wrote, or the passwords that Chrome, Firefox or Apple's Passwords export.",
        discussion: """
            Of the others the file is CSV with a first line that names the columns: url, username and password, in any order, and \
            what there is of name or title, note or notes, otpauth and httpRealm. What is there already with the same secret is \
            skipped; with another one it is left as it is and told. It ends with 0 when everything is in the keychain, with 1 \
            when some could not be taken.

            Example:
              vauban import passwords.csv
              vauban import backup.vauban
            """)

    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file"))
    var path: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var person: PersonOptions

    func run() throws {
        // The file first: what is wrong with it shows before anyone is asked for a passcode.
        let content = try InputFile.read(path, max: PasswordExport.bytesMax)
        if ExportReading.isOne(content) { return try takeExport(content) }
        guard passphrase.descriptor == nil else { throw Refusal(.badParameter, "the file is not encrypted, so it has no passphrase") }
        if content.withUnsafeBytes({ $0.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } }).map({ [0x5B, 0x7B].contains($0) }) ?? false {
            return try takeDocument(content)
        }
        let export = try PasswordExport.read(content)
        var run = ImportRun(try Session(person))
        try run.run(export)
        try tell(run, isPlain: true)
    }

    private func takeExport(_ content: consuming SecretBytes) throws {
        let session = try Session(person)
        let reading = ExportReading(content)
        let passphrase = try passphrase.existing(session.person)
        try session.openNow()
        var run = ImportRun(session)
        try reading.forEach(passphrase: passphrase) { number, record, secret in try run.takeOne("item \(number)", record, secret) }
        run.finish()
        try tell(run, isPlain: false)
    }

    private func takeDocument(_ content: consuming SecretBytes) throws {
        let document = ItemDocument(content)
        guard document.faults.isEmpty else {
            for fault in document.faults.prefix(50) { say("line \(fault.line): \(fault.why)") }
            throw Refusal(.badParameter, "nothing was taken, since not all of it can be")
        }
        let session = try Session(person)
        try session.openNow()
        var run = ImportRun(session)
        for entry in document.entries {
            guard let secret = document.secret(of: entry) else { continue }
            try run.takeOne("line \(entry.line)", entry.record, secret)
        }
        run.finish()
        try tell(run, isPlain: true)
    }

    private func tell(_ run: ImportRun, isPlain: Bool) throws {
        say("\(run.added) added, \(run.skipped) skipped as they are there already, \(run.refused) not taken.")
        if isPlain, path != "-" {
            say("\(SafeText.visible(path)) still holds every password in plain text: delete it when you have looked.")
        }
        if run.refused > 0 { throw ExitCode(1) }
    }
}
