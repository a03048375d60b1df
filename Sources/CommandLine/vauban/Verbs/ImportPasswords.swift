import ArgumentParser
import VaubanAccessPolicy

struct ImportPasswords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Takes in the passwords that Chrome exports.",
        discussion: """
            The file has the columns name, url, username, password and note, in any order, named in its first line. \
            What is there already with the same password is skipped; with another one it is left as it is and told. \
            It ends with 0 when every line is in the keychain, with 1 when some could not be taken.

            Example:
              vauban import passwords.csv
            """)

    @Argument(help: ArgumentHelp("The file, or - for standard input.", valueName: "file"))
    var path: String

    @OptionGroup var person: PersonOptions

    func run() throws {
        // The file first: what is wrong with it shows before anyone is asked for a passcode.
        let export = try PasswordExport.read(path: path)
        var run = ImportRun(try Session(person))
        try run.run(export)
        say("\(run.added) added, \(run.skipped) skipped as they are there already, \(run.refused) not taken.")
        if path != "-" { say("\(SafeText.visible(path)) still holds every password in plain text: delete it when you have looked.") }
        if run.refused > 0 { throw ExitCode(1) }
    }
}
