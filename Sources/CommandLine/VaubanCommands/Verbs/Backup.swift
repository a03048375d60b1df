import ArgumentParser
import Glibc
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Back up your keychain to an encrypted file or folder.",
        discussion: """
            Asks for your passcode and for a passphrase, or generates a passphrase and prints it (--generate). A backup in a folder \
            is continued without either, and only what has changed is written; --schedule has systemd do it daily or weekly. Items \
            that need you or the passcode, and keys of the enclave, stay on this device and are listed. vauban restore restores a \
            backup, also on another machine. Exits 0 if the backup is complete and verified.

            --new-recipient makes a key pair: a recipient, to which backups are encrypted without a passphrase, and its restore \
            key, which alone opens them. Keep the restore key away from this machine.

            Example:
              vauban backup keychain.backup
              vauban backup --generate /media/stick/keychain/
              vauban backup /media/stick/keychain/
              vauban backup --new-recipient home.recipient > /media/safe/home.key
              vauban backup --recipient home.recipient --schedule daily /media/stick/keychain
              vauban backup --unschedule
            """)

    /// The interval at which systemd runs backups.
    enum Period: String, ExpressibleByArgument, CaseIterable { case daily, weekly }

    @Argument(
        help: ArgumentHelp("A new file, or a folder: one that exists or whose name ends in /.", valueName: "file|folder"),
        completion: .file())
    var target: String?

    @Option(
        help: ArgumentHelp(
            "Back up now, then daily or weekly, to a folder that has a backup already, or to a new one with --recipient.",
            valueName: "daily|weekly"))
    var schedule: Period?

    @Flag(help: "End the scheduled backups. The backup stays.")
    var unschedule = false

    @Flag(
        name: .customLong("continue"), help: "Only continue a backup, for timers; fail if the folder has none: it may not be mounted.")
    var continuesOnly = false

    @Flag(help: "Continue even if items are gone that nobody deleted, or this is another keychain. The backup keeps what is gone.")
    var acceptMissing = false

    @Flag(help: "Generate the passphrase of a new backup and print it.")
    var generate = false

    @Option(
        help: ArgumentHelp("Encrypt a new backup to this recipient, in place of a passphrase or besides it.", valueName: "file"),
        completion: .file())
    var recipient: String?

    @Option(
        help: ArgumentHelp("Make a recipient in this new file, and print its restore key.", valueName: "file"), completion: .file())
    var newRecipient: String?

    @Flag(help: "Encrypt the printed restore key with a passphrase, from a prompt or --passphrase-fd.")
    var encrypt = false

    @OptionGroup var opener: BackupOpenerOptions
    @OptionGroup var user: UserOptions

    private var passphrase: BackupPassphraseOptions { opener.passphrase }

    func validate() throws {
        if generate, opener.isGiven { throw ValidationError("Use --generate, --passphrase-fd or --restore-key alone") }
        if unschedule, target != nil || schedule != nil || newRecipient != nil || continuesOnly || acceptMissing {
            throw ValidationError("--unschedule takes no other arguments")
        }
        if newRecipient != nil {
            if target != nil || schedule != nil || recipient != nil || generate || opener.restoreKey != nil {
                throw ValidationError("--new-recipient makes no backup; give its file to --recipient afterward")
            }
            if passphrase.descriptor != nil, !encrypt {
                throw ValidationError("With --new-recipient, --passphrase-fd requires --encrypt")
            }
            return
        }
        if encrypt { throw ValidationError("--encrypt encrypts the restore key of a new recipient; give --new-recipient FILE too") }
        if recipient != nil, opener.restoreKey != nil {
            throw ValidationError("--restore-key opens a backup that exists, and --recipient is for a new one; leave one out")
        }
        if !unschedule, target == nil { throw ValidationError("No file or folder given for the backup: vauban backup FOLDER/") }
        if continuesOnly, generate || recipient != nil || schedule != nil {
            throw ValidationError("--continue makes no new backup; leave it out")
        }
        if schedule != nil, generate || opener.isGiven {
            throw ValidationError("--schedule continues a backup without its passphrase; make the backup first")
        }
    }

    private var path: String { target ?? "" }

    func run() throws {
        if let newRecipient { return try makeRecipient(newRecipient) }
        if unschedule { return try endSchedule() }
        if let schedule { return try start(schedule) }
        if continuesOnly { return try continueOnly() }
        let key = try recipient.map(RecipientFile.read)
        let target: any BackupTarget =
            path.hasSuffix("/") || BackupFiles.isFolder(path)
            ? try BackupFolder(path: path) : try NewBackupFile(path: path)
        if target.keybag != nil {
            if generate { throw Refusal(.badParameter, "The backup in this folder has a passphrase already; leave out --generate") }
            if key != nil { throw Self.hasKeys }
            guard opener.isGiven else { return try runUnattended(target) }
        }
        try runAttended(target, recipient: key)
    }

    /// Continues a backup whose medium may be unavailable, or become so during the run.
    private func continueOnly() throws {
        do {
            let target = try BackupFolder(path: path, continuesOnly: true)
            if opener.isGiven { try runAttended(target, recipient: nil) } else { try runUnattended(target) }
        } catch let refusal as Refusal where refusal.reason == .badParameter && !StoredBackupFolder.hasContent(path) {
            throw BackupFolder.notThere(path)
        }
    }

    /// Backs up for the first time, or with the passphrase or restore key, and with the user's consent.
    private func runAttended(_ target: any BackupTarget, recipient: [UInt8]?) throws {
        let client = try ServiceClient.openedByPasscode(user, prompt: "Passcode to back up the keychain")
        let opener: BackupOpener
        if target.keybag != nil {
            opener = try self.opener.opener(client.user)
        } else if let recipient {
            opener = BackupOpener(passphrase: try generate ? newPassphrase(client.user) : passphrase.given(), recipient: recipient)
        } else {
            if self.opener.restoreKey != nil { throw Refusal(.badParameter, "There is no backup here that the restore key could open") }
            opener = BackupOpener(passphrase: try newPassphrase(client.user))
        }
        var run = BackupRun(client, target, path: path, acceptsLoss: acceptMissing)
        try run.run(opener)
        printReport(run, client)
    }

    /// Makes a key pair. The private half exists on this machine only until this command ends, so no room ever has it.
    private func makeRecipient(_ path: String) throws {
        guard access(path, F_OK) != 0 else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) already exists; choose another file")
        }
        let key = try RestoreKey()
        let text =
            try encrypt
            ? key.text(passphrase: passphrase.newOfRestoreKey(CommandUser(user))) : key.text(passphrase: nil)
        // A reader of standard output that ends early is detected, so that no recipient is made.
        signal(SIGPIPE, SIG_IGN)
        let file = try RecipientFile.unnamed(key.recipient, at: path)
        fflush(nil)
        // A recipient whose restore key is lost would take backups that nothing opens, so it gets its name last.
        guard text.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }), syncOutput() else {
            throw Refusal(.unavailable, "The restore key could not be written; no recipient was made")
        }
        try RecipientFile.name(file)
        let fingerprint = BackupRequest.fingerprint(ofDigest: RecipientFile.digest(key.recipient))
        say("Recipient \(fingerprint), in \(SafeText.visible(path)).")
        say("Keep the restore key away from this machine: nothing else opens the backups of this recipient.")
    }

    private static var hasKeys: Refusal {
        Refusal(.badParameter, "The backup in this folder has its keys already; leave out --recipient, or choose another folder")
    }

    /// Backs up by the keys of this device, as the timer will, and starts the timer only if that succeeds.
    private func start(_ period: Period) throws {
        let key = try recipient.map(RecipientFile.read)
        let isNew = key != nil && mkdir(path, 0o700) == 0
        // Remove the folder only if it is empty; anything written stays.
        defer { if isNew { rmdir(path) } }
        guard let real = realpath(path, nil) else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        defer { free(real) }
        let folder = String(cString: real)
        let timer = try UserTimer(.backup, ["--continue", folder], calendar: period.rawValue, service: try ServiceAccess.current())
        let isEmpty = try StoredBackupFolder.keybag(in: path) == nil
        if let key {
            guard isEmpty else { throw Self.hasKeys }
            try runAttended(try BackupFolder(path: path), recipient: key)
        } else if isEmpty {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) has no backup to continue; make it first: vauban backup \(SafeText.visible(path))/")
        }
        try runUnattended(try BackupFolder(path: path))
        let earlier = UserTimer.words(of: .backup)?.last
        try timer.start()
        if let earlier, earlier != folder {
            say("Backups to \(SafeText.visible(earlier)) are no longer scheduled, since only one folder can be.")
        }
        say("Scheduled: systemd backs up to this folder \(period.rawValue), while you are logged in and the keychain is unlocked.")
    }

    private func endSchedule() throws {
        guard try UserTimer.remove(.backup) else { return say("No backup was scheduled.") }
        say("Backups are no longer scheduled. The backup stays.")
    }

    /// Adds to a folder with the keys of this device.
    private func runUnattended(_ target: any BackupTarget) throws {
        let client = try ServiceClient(user)
        try client.openNow()
        var run = BackupRun(client, target, path: path, acceptsLoss: acceptMissing)
        try run.run(.device)
        printReport(run, client)
    }

    /// Prints a generated passphrase before anything is written: without the passphrase a backup cannot be restored.
    private func newPassphrase(_ user: CommandUser) throws -> SecretBytes {
        guard generate else { return try passphrase.new(user) }
        let words = try GeneratedWords.make(Self.words)
        signal(SIGPIPE, SIG_IGN)
        fflush(nil)
        guard words.withUnsafeBytes({ writeAll($0, to: STDOUT_FILENO) }), writeText("\n", to: STDOUT_FILENO), syncOutput() else {
            throw Refusal.notWritten("The passphrase")
        }
        let bits = Int(GeneratedWords.bits(Self.words))
        say("Write this passphrase down (\(Self.words) words, \(bits) bits of entropy): nothing else opens the backup.")
        return words
    }

    private func printReport(_ run: BackupRun, _ client: ServiceClient) {
        LastBackup.record(path, of: client.service)
        run.printReport()
    }

    private static let words = 7
}
