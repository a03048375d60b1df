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
            Asks for your passcode and for a passphrase, or makes up a passphrase and prints it (--generate). A folder is backed up \
            again without either, and only what has changed is written; --schedule has systemd do it daily or weekly. Items that need \
            you or the passcode, and private keys, stay on this device and are listed. vauban restore restores a backup, also on \
            another machine. Exits 0 if the backup is complete and verified.

            Example:
              vauban backup keychain.backup
              vauban backup --generate /media/stick/keychain/
              vauban backup /media/stick/keychain/
              vauban backup --schedule daily /media/stick/keychain
              vauban backup --unschedule
            """)

    /// How often systemd backs up.
    enum Period: String, ExpressibleByArgument, CaseIterable { case daily, weekly }

    @Argument(
        help: ArgumentHelp("A new file, or a folder: one that exists or whose name ends in /.", valueName: "file|folder"),
        completion: .file())
    var target: String?

    @Option(
        help: ArgumentHelp("Back up to a folder that has a backup now, and daily or weekly from now on.", valueName: "daily|weekly"))
    var schedule: Period?

    @Flag(help: "End the scheduled backups. The backup stays.")
    var unschedule = false

    @Flag(help: "Generate the passphrase of a new backup and print it.")
    var generate = false

    @OptionGroup var passphrase: BackupPassphraseOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if generate, passphrase.descriptor != nil { throw ValidationError("Use --generate or --passphrase-fd, not both.") }
        if unschedule, target != nil || schedule != nil { throw ValidationError("--unschedule takes nothing else.") }
        if !unschedule, target == nil { throw ValidationError("No file or folder given for the backup.") }
        if schedule != nil, generate || passphrase.descriptor != nil {
            throw ValidationError("--schedule continues a backup without its passphrase; make the backup first.")
        }
    }

    private var path: String { target ?? "" }

    func run() throws {
        if unschedule { return try endSchedule() }
        if let schedule { return try start(schedule) }
        let target: any BackupTarget =
            path.hasSuffix("/") || BackupFiles.isFolder(path)
            ? try BackupFolder(path: path) : try NewBackupFile(path: path)
        if target.keybag != nil {
            if generate { throw Refusal(.badParameter, "The backup in this folder has a passphrase already; leave out --generate") }
            guard passphrase.descriptor != nil else { return try runUnattended(target) }
        }
        let session = try Session.openedByPasscode(user, prompt: "Passcode to back up the keychain")
        let passphrase: SecretBytes? = try target.keybag == nil ? newPassphrase(session.user) : passphrase.existing(session.user)
        var run = BackupRun(session, target)
        try run.run(passphrase: passphrase)
        tell(run, session)
    }

    /// Backs up by the keys of this device, as the timer will, and starts the timer only if that succeeds.
    private func start(_ period: Period) throws {
        guard let real = realpath(path, nil) else { throw NewFile.refusal("open \(SafeText.visible(path))", errno) }
        defer { free(real) }
        let timer = try UserTimer(.backup, [String(cString: real)], calendar: period.rawValue, service: try ServiceAccess.current())
        guard try StoredBackupFolder.keybag(in: path) != nil else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) has no backup to continue; make it first: vauban backup \(SafeText.visible(path))/")
        }
        try runUnattended(try BackupFolder(path: path))
        try timer.start()
        say("Scheduled: systemd backs up to this folder \(period.rawValue), while you are logged in and the keychain is unlocked.")
    }

    private func endSchedule() throws {
        guard try UserTimer.remove(.backup) else { return say("No backup was scheduled.") }
        say("No backup is scheduled any more. The backup stays.")
    }

    /// Adds to a folder with the keys of this device.
    private func runUnattended(_ target: any BackupTarget) throws {
        let session = try Session(user)
        try session.openNow()
        var run = BackupRun(session, target)
        try run.run(passphrase: nil)
        tell(run, session)
    }

    /// Prints a generated passphrase before anything is written: without the passphrase a backup cannot be restored.
    private func newPassphrase(_ user: CommandUser) throws -> SecretBytes {
        guard generate else { return try passphrase.new(user) }
        let words = try GeneratedWords.make(Self.words)
        print(String(decoding: words.disclosed(), as: UTF8.self))
        fflush(nil)
        let bits = Int(GeneratedWords.bits(Self.words))
        say("Write this passphrase down (\(Self.words) words, \(bits) bits of entropy): nothing else opens the backup.")
        return words
    }

    private func tell(_ run: BackupRun, _ session: Session) {
        LastBackup.record(path, of: session.service)
        for (name, why) in run.omitted { say("Not in the backup: \(SafeText.visible(name)): \(why.words)") }
        let unchanged = run.unchanged == 0 ? "" : ", \(run.unchanged) unchanged"
        let omitted = run.omitted.isEmpty ? "" : ", \(run.omitted.count) not in the backup"
        say("\(count(run.written, "item")) backed up\(unchanged)\(omitted). Verified.")
    }

    private static let words = 7
}

extension BackupOmission {
    fileprivate var words: String {
        switch self {
        case .passcodeClass: "it is bound to the passcode of this device"
        case .accessControl: "it has an access control, so it stays on this device"
        case .privateKey: "a private key never leaves this device"
        case .absent: "it cannot be read; run: vauban doctor"
        }
    }
}
