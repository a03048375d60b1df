import ArgumentParser
import VaubanAuthenticationClient
import VaubanSecretBytes
import VaubanUserModel

struct ExportItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes your items with their secrets into a file, encrypted by a passphrase.",
        discussion: """
            Your passcode comes first. The file is encrypted; vauban import reads it back with every attribute but the dates. Items \
            that stay on this device are left out, unless you say --this-device. With --plain, which is JSON, and --csv nothing is \
            encrypted: whoever reads that file has everything in it. It ends with 1 when some items could not be exported.

            Example:
              vauban export backup.vauban
              vauban import backup.vauban
              vauban export --csv passwords.csv
            """)

    @Argument(help: ArgumentHelp("A new file, or - for standard output.", valueName: "file"), completion: .file())
    var path: String

    @Flag(help: "Also what is to stay on this device.")
    var thisDevice = false

    @Flag(help: "JSON with every secret in plain text, readable by everybody who gets the file.")
    var plain = false

    @Flag(help: "CSV with every secret in plain text, which other password managers read.")
    var csv = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if plain, csv { throw ValidationError("It is JSON (--plain) or CSV (--csv), not both.") }
        if plain || csv, passphrase.descriptor != nil { throw ValidationError("What is plain has no passphrase.") }
    }

    func run() throws {
        let session = try openedByPasscode()
        let output = try ExportOutput(path: path)
        var run = ExportRun(session, takesThisDevice: thisDevice)
        if plain || csv {
            say("Warning: this file is not encrypted. Whoever can read it, a backup of it, or the disk it lay on, has every secret in it.")
            if csv { say("A spreadsheet takes a field that begins with = + - or @ for a formula: open this file in none.") }
            try writePlain(&run, output)
        } else {
            var writer = try EncryptedExport(output, passphrase: passphrase.new(session.user))
            try run.run(&writer)
        }
        say("\(count(run.written, "item")) exported\(run.left == 0 ? "" : ", \(run.left) not").")
        if run.stayed > 0 { say("\(count(run.stayed, "item")) to stay on this device: left out; to take them along: --this-device") }
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

    /// Asked for also where the keychain is open: everything at once is more than a terminal left alone should give. What was
    /// typed answers for each item that asks, as a passcode that was sent along does.
    private func openedByPasscode() throws -> Session {
        let asked = try Session(user)
        guard try asked.authentication.status().device.passcodeIsSet else { return asked }
        let passcode = try Passcode.current(of: asked, prompt: "Passcode, to export everything")
        try asked.authentication.unlock(passcode)
        return try Session(CommandUser(mayBeAsked: !user.noInput, passcode: passcode))
    }
}
