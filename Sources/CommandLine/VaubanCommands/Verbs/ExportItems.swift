import ArgumentParser

struct ExportItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write your items with their secrets to a file encrypted with a passphrase.",
        discussion: """
            Asks for your passcode first. vauban import restores the file with all attributes except dates. Items that stay on this \
            device are left out unless you give --this-device. --plain (JSON) and --csv encrypt nothing: anyone who gets that file \
            has every secret. Exits 0 if every item was exported, 1 if some could not be.

            Example:
              vauban export backup.vauban
              vauban import backup.vauban
              vauban export --csv passwords.csv
            """)

    @Argument(help: ArgumentHelp("The new file, or - for standard output.", valueName: "file"), completion: .file())
    var path: String

    @Flag(help: "Include items that stay on this device.")
    var thisDevice = false

    @Flag(help: "Write unencrypted JSON.")
    var plain = false

    @Flag(help: "Write unencrypted CSV for another password manager.")
    var csv = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if plain, csv { throw ValidationError("Use --plain or --csv, not both") }
        if plain || csv, passphrase.descriptor != nil {
            throw ValidationError("--passphrase-fd cannot be combined with --plain or --csv: they encrypt nothing")
        }
    }

    func run() throws {
        let client = try ServiceClient.openedByPasscode(user, prompt: "Passcode to export all items")
        let output = try ExportOutput(path: path)
        var run = ExportRun(client, takesThisDevice: thisDevice)
        if plain || csv {
            say("Warning: This file is not encrypted. Anyone who can read it, a backup of it, or the disk has every secret in it.")
            if csv { say("Do not open this file in a spreadsheet: it treats a cell that begins with =, +, - or @ as a formula.") }
            try writePlain(&run, output)
        } else {
            var writer = try EncryptedExport(output, passphrase: passphrase.new(client.user))
            try run.run(&writer)
        }
        say("\(count(run.written, "item")) exported\(run.left == 0 ? "" : ", \(run.left) not exported").")
        if run.stayed > 0 { say("\(count(run.stayed, "item")) left out (this device only). To include: vauban export --this-device") }
        if run.left > 0 { throw ExitCode(1) }
    }

    private func writePlain(_ run: inout ExportRun, _ output: ExportOutput) throws {
        if csv {
            var writer = CSVWriter(output)
            try run.run(&writer)
        } else {
            var writer = PlainExport(output)
            try run.run(&writer)
        }
    }
}
