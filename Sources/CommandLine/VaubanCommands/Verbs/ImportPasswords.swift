import ArgumentParser
import Glibc
import VaubanJSON
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

struct ImportPasswords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import items from another password manager, a browser, the desktop's keyring, or vauban export.",
        discussion: """
            Reads CSV from Chrome, Firefox, Apple Passwords, KeePassXC, LastPass, 1Password and Bitwarden, XML from KeePassXC and \
            KeePass, unencrypted JSON from Bitwarden, 1pux from 1Password, the folder of pass (through gpg), and files of vauban export. \
            With --from secret-service, reads everything that GNOME Keyring, KeePassXC, oo7 or KDE Wallet has, over the session bus; \
            with --from kwallet, the wallets of KDE's programs. The source asks you itself to unlock what is locked, and stays as it is. \
            Skips an item that already exists with the same secret and reports one with another secret. Prints one line per record to \
            standard output. Exits 0 if everything was imported, 1 if something was not.

            Example:
              vauban import --dry-run passwords.csv
              vauban import passwords.csv
              keepassxc-cli export --format xml passwords.kdbx | vauban import -
              vauban import ~/.password-store
              vauban import backup.vauban
              vauban import --from secret-service --dry-run
              vauban import --from kwallet
            """)

    @Argument(help: ArgumentHelp("The file, - for standard input, or the folder of pass.", valueName: "file"), completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("Import from a running program: secret-service or kwallet.", valueName: "source"))
    var from: Provider?

    enum Provider: String, ExpressibleByArgument, CaseIterable {
        case secretService = "secret-service"
        case kwallet
    }

    @Flag(help: "Report what the import would do; change nothing.")
    var dryRun = false

    @Flag(help: "Print the report as one JSON document.")
    var json = false

    @Flag(help: "Import notes as protected fields, which vauban show does not print.")
    var protectNotes = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var user: UserOptions

    private var path: String { file ?? "" }

    func validate() throws {
        guard from != nil else {
            if file == nil { throw ValidationError("No source given: name a file, or use --from secret-service or --from kwallet") }
            return
        }
        if file != nil { throw ValidationError("Name a file or use --from, not both") }
        if passphrase.descriptor != nil || protectNotes {
            throw ValidationError("--passphrase-fd and --protect-notes are for files, not for --from")
        }
    }

    func run() throws {
        if let from { return try takeProvider(from) }
        if PasswordStore.isFolder(path) { return try takeStore() }
        // Read the file first, so that its errors show before a passcode prompt.
        let content = try InputFile.read(path, max: ImportSource.bytesMax)
        let source = try ImportSource(content)
        if case .encryptedExport = source { return try takeExport(content) }
        guard passphrase.descriptor == nil else { throw Refusal(.badParameter, "The file is not encrypted; leave out --passphrase-fd") }
        switch source {
        case .encryptedExport: break
        case .json: try takeJSON(content)
        case .xml: try takeXML(content)
        case .zip: try takeArchive(content)
        case .csv: try takeCSV(content)
        }
    }

    private func newRun() throws -> ImportRun {
        try ImportRun(try ServiceClient(user), isDryRun: dryRun, protectsNotes: protectNotes)
    }

    private func takeProvider(_ provider: Provider) throws {
        try printReport(try ProviderItems.imported(wallets: provider == .kwallet, user, isDryRun: dryRun), isPlain: false)
    }

    private func takeStore() throws {
        let store = try PasswordStore(root: path)
        var run = try newRun()
        run.total = store.files.count
        for file in store.files { try run.take(.file(file)) { () throws(SkipReason) in try store.source(file) } }
        for (path, why) in store.strange { run.refuse(.file(path), SkipReason(why)) }
        try printReport(run, isPlain: false)
    }

    private func takeCSV(_ content: consuming SecretBytes) throws {
        if try OwnCSV.isOne(content) { return try takeOwnCSV(content) }
        let export = try CSVExport(content)
        var run = try newRun()
        run.total = export.records.count
        // The file does not say which program wrote it. Standard input and a shell's pipes have no name.
        let hasName = path != "-" && !["/dev/", "/proc/"].contains { path.hasPrefix($0) }
        let origin = hasName ? path.split(separator: "/").last.map { SafeText.line(String($0), max: 80) } : nil
        for record in export.records {
            try run.take(.line(record.line)) { () throws(SkipReason) -> SourceRecord in
                var source = try export.source(record)
                source.origin = origin
                return source
            }
        }
        try printReport(run)
    }

    private func takeXML(_ content: consuming SecretBytes) throws {
        let database = try KeePassXML(content)
        var run = try newRun()
        run.total = database.count
        for index in 0..<database.count {
            try run.take(database.place(index)) { () throws(SkipReason) in try database.source(index) }
        }
        try printReport(run)
    }

    private func takeOwnCSV(_ content: consuming SecretBytes) throws {
        let export = try OwnCSV(content)
        var run = try newRun()
        run.total = export.records.count
        for record in export.records {
            let items: [PlannedItem]
            do throws(SkipReason) { items = try export.items(record) } catch {
                run.refuse(.line(record.line), error)
                continue
            }
            for item in items { try run.takeWhole(.line(record.line), record: item.record, secret: item.secret.secret) }
        }
        try printReport(run)
    }

    private func takeArchive(_ content: consuming SecretBytes) throws {
        let archive = try ZipArchive(content)
        guard archive.names.contains("export.data") else {
            throw Refusal(.badParameter, "The archive has no export.data, so it is not a 1pux file of 1Password")
        }
        try takeJSON(try archive.file("export.data"))
    }

    private func takeExport(_ content: consuming SecretBytes) throws {
        let client = try ServiceClient(user)
        let reading = ExportReading(content)
        let passphrase = try passphrase.existing(client.user)
        var run = try ImportRun(client, isDryRun: dryRun)
        try reading.forEach(passphrase: passphrase) { number, record, secret in
            try run.takeWhole(SourcePlace(line: nil, name: "item \(number)"), record: record, secret: secret)
        }
        try printReport(run, isPlain: false)
    }

    private func takeJSON(_ content: consuming SecretBytes) throws {
        let isForeign = try content.withUnsafeBytes { bytes in
            guard let document = ForeignJSON.document(bytes) else { return false }
            guard let records = try ForeignJSON.records(document) else { return false }
            var run = try newRun()
            run.total = records.count
            for index in 0..<records.count {
                try run.take(records.place(index)) { () throws(SkipReason) in try records.source(index) }
            }
            try printReport(run)
            return true
        }
        if !isForeign { try takeDocument(content) }
    }

    private func takeDocument(_ content: consuming SecretBytes) throws {
        let document = ItemDocument(content)
        guard document.faults.isEmpty else {
            for fault in document.faults.prefix(50) { say("line \(fault.line): \(fault.why)") }
            throw Refusal(.badParameter, "Nothing was imported; correct the lines above first")
        }
        var run = try newRun()
        for entry in document.entries {
            guard let secret = document.secret(of: entry) else { continue }
            try run.takeWhole(.line(entry.line), record: entry.record, secret: secret)
        }
        try printReport(run)
    }

    private func printReport(_ run: ImportRun, isPlain: Bool = true) throws {
        run.finish()
        let report = run.report
        if json {
            print(try ItemDescription.json(report))
        } else {
            for record in report.records { for line in record.lines(isDryRun: dryRun) { print(line) } }
        }
        // Print the lines before the summary, even if both go to one file.
        fflush(nil)
        say(report.summary)
        if isPlain, report.records.isEmpty, !dryRun {
            say("Nothing was imported: \(path == "-" ? "standard input" : SafeText.visible(path)) contains no records.")
        } else if isPlain, path != "-", !dryRun {
            say(
                report.isWhole
                    ? "\(SafeText.visible(path)) still contains all passwords in plain text; delete it after checking."
                    : "\(SafeText.visible(path)) contains data that was not imported; keep it until the lines above are resolved.")
        }
        if !report.isWhole { throw ExitCode(1) }
    }
}
