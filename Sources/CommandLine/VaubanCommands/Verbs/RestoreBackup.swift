import ArgumentParser
import VaubanKeychainWire
import VaubanRefusal

struct RestoreBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore items from a backup that vauban backup made.",
        discussion: """
            Verifies the whole backup first. Adds the items that are missing here and replaces those that are older than in the \
            backup; vauban history shows the replaced secrets of passwords. Items that are newer here stay. You can run it again at any \
            time. Items of another device that stay on that device are listed and not restored. A backup for a recipient opens with its \
            restore key. From a damaged backup nothing is restored, unless you give --damaged: then the intact items are restored, and \
            what is missing is listed. Exits 0 if every item of the backup is here now, as it was or newer, and 1 otherwise.

            Example:
              vauban restore keychain.backup
              vauban restore /media/stick/keychain/
              vauban restore --restore-key /media/safe/home.key /media/stick/keychain/
            """)

    @Argument(help: ArgumentHelp("The file or folder of vauban backup.", valueName: "file|folder"), completion: .file())
    var path: String

    @Flag(help: "Restore the intact items of a damaged backup, and list what is missing.")
    var damaged = false

    @OptionGroup var opener: BackupOpenerOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        if let folder = BackupFiles.folder(ofPart: path) {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is only a part of a backup; restore its folder: vauban restore \(SafeText.word(folder))")
        }
        let source: any BackupSource = BackupFiles.isFolder(path) ? try StoredBackupFolder(path: path) : try BackupFile(path: path)
        let client = try ServiceClient(user)
        try client.openNow()
        var run = RestoreRun(client, source, isDamaged: damaged)
        try run.run(opener.opener(client.user))
        let added = run.counts[.added] ?? 0
        let replaced = run.counts[.replaced] ?? 0
        let parts = [
            "\(count(added, "item")) added", "\(replaced) replaced", "\(run.counts[.unchanged] ?? 0) unchanged",
            "\(run.left.count) not restored",
        ]
        say(parts.joined(separator: ", ") + ".")
        if run.missing > 0 { say("\(count(run.missing, "item")) of the damaged parts \(run.missing == 1 ? "is" : "are") not here either.") }
        if !run.isComplete { throw ExitCode(1) }
    }
}
