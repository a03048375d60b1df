import ArgumentParser
import VaubanRefusal
import VaubanSecretBytes

struct ImportPasswords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Takes in what another password manager, a browser or vauban export wrote.",
        discussion: """
            It reads CSV of Chrome, Firefox, Apple's Passwords, KeePassXC, LastPass, 1Password and Bitwarden, the unencrypted JSON of \
            Bitwarden and the 1pux of 1Password, the folder of pass (through gpg), and what vauban export wrote. What is there \
            already with the same secret is skipped; with another one it is left as it is and told. What became of each record is \
            printed, on standard output; --json makes one document of it. It ends with 0 when everything is in the keychain, with \
            1 when something could not be taken.

            Example:
              vauban import --dry-run passwords.csv
              vauban import passwords.csv
              keepassxc-cli export --format csv passwords.kdbx | vauban import -
              vauban import ~/.password-store
              vauban import backup.vauban
            """)

    @Argument(help: ArgumentHelp("The file, or - for standard input, or the folder of pass.", valueName: "file"), completion: .file())
    var path: String

    @Flag(help: "Change nothing; report what an import would do.")
    var dryRun = false

    @Flag(help: "Report as one JSON document, for a program.")
    var json = false

    @Flag(help: "Keep notes as protected fields, which vauban show does not show.")
    var protectNotes = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        if PasswordStore.isFolder(path) { return try takeStore() }
        // The file first: what is wrong with it shows before anyone is asked for a passcode.
        let content = try InputFile.read(path, max: ImportSource.bytesMax)
        let source = try ImportSource(content)
        if case .encryptedExport = source { return try takeExport(content) }
        guard passphrase.descriptor == nil else { throw Refusal(.badParameter, "the file is not encrypted, so it has no passphrase") }
        switch source {
        case .encryptedExport: break
        case .json: try takeJSON(content)
        case .zip: try takeArchive(content)
        case .csv: try takeCSV(content)
        }
    }

    private func newRun() throws -> ImportRun {
        try ImportRun(try Session(user), isDryRun: dryRun, protectsNotes: protectNotes)
    }

    private func takeStore() throws {
        let store = try PasswordStore(root: path)
        var run = try newRun()
        run.total = store.files.count
        for file in store.files { try run.take(.file(file)) { () throws(RowError) in try store.source(file) } }
        for (path, why) in store.strange { run.refuse(.file(path), RowError(why)) }
        try tell(run, isPlain: false)
    }

    private func takeCSV(_ content: consuming SecretBytes) throws {
        if try OwnCSV.isOne(content) { return try takeOwnCSV(content) }
        let export = try CSVExport(content)
        var run = try newRun()
        run.total = export.records.count
        for record in export.records { try run.take(.line(record.line)) { () throws(RowError) in try export.source(record) } }
        try tell(run)
    }

    private func takeOwnCSV(_ content: consuming SecretBytes) throws {
        let export = try OwnCSV(content)
        var run = try newRun()
        run.total = export.records.count
        for record in export.records {
            let items: [PlannedItem]
            do throws(RowError) { items = try export.items(record) } catch {
                run.refuse(.line(record.line), error)
                continue
            }
            for item in items { try run.takeWhole(.line(record.line), item.record, item.secret.secret) }
        }
        try tell(run)
    }

    private func takeArchive(_ content: consuming SecretBytes) throws {
        let archive = try ZipArchive(content)
        guard archive.names.contains("export.data") else {
            throw Refusal(.badParameter, "there is no export.data in the archive, so it is no 1pux of 1Password")
        }
        try takeJSON(try archive.file("export.data"))
    }

    private func takeExport(_ content: consuming SecretBytes) throws {
        let session = try Session(user)
        let reading = ExportReading(content)
        let passphrase = try passphrase.existing(session.user)
        var run = try ImportRun(session, isDryRun: dryRun)
        try reading.forEach(passphrase: passphrase) { number, record, secret in
            try run.takeWhole(SourcePlace(line: nil, name: "item \(number)"), record, secret)
        }
        try tell(run, isPlain: false)
    }

    private func takeJSON(_ content: consuming SecretBytes) throws {
        let isForeign = try content.withUnsafeBytes { bytes in
            guard let document = ForeignJSON.document(bytes) else { return false }
            guard let records = try ForeignJSON.records(document) else { return false }
            var run = try newRun()
            run.total = records.count
            for index in 0..<records.count {
                try run.take(records.place(index)) { () throws(RowError) in try records.source(index) }
            }
            try tell(run)
            return true
        }
        if !isForeign { try takeDocument(content) }
    }

    private func takeDocument(_ content: consuming SecretBytes) throws {
        let document = ItemDocument(content)
        guard document.faults.isEmpty else {
            for fault in document.faults.prefix(50) { say("line \(fault.line): \(fault.why)") }
            throw Refusal(.badParameter, "nothing was taken, since not all of it can be")
        }
        var run = try newRun()
        for entry in document.entries {
            guard let secret = document.secret(of: entry) else { continue }
            try run.takeWhole(.line(entry.line), entry.record, secret)
        }
        try tell(run)
    }

    private func tell(_ run: ImportRun, isPlain: Bool = true) throws {
        run.finish()
        let report = run.report
        if json {
            print(try ItemDescription.json(report))
        } else {
            for record in report.records { for line in record.lines(isDryRun: dryRun) { print(line) } }
        }
        say(report.summary)
        if isPlain, path != "-", !dryRun {
            say(
                report.isWhole
                    ? "\(SafeText.visible(path)) still holds every password in plain text: delete it when you have looked."
                    : "\(SafeText.visible(path)) holds what is not in the keychain: keep it until the lines above are settled.")
        }
        if !report.isWhole { throw ExitCode(1) }
    }
}
