import ArgumentParser
import CVaubanLinux
import Foundation
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText
import VaubanUserModel

struct Code: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code",
        abstract: "Store keys of one-time codes and compute the codes.",
        discussion: """
            Example:
              vauban code add github/anna --picture qr.png
              vauban code get github/anna
              vauban code get github/anna --copy
            """,
        subcommands: [CodeAdd.self, CodeGet.self, CodeList.self, CodeShow.self, CodeScan.self, CodeImport.self])
}

struct CodeAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store the key that a site gives you for one-time codes.",
        discussion: """
            Reads an otpauth:// address, or the key itself in letters and digits (base32), from a prompt, standard input or a file \
            descriptor. --picture reads it from a QR code. --uri takes the address as an argument: until Vauban has overwritten it, other \
            programs can see it, and your shell may keep it in its history.

            Example:
              vauban code add github/anna
              vauban code add github/anna --picture qr.png
            """)

    @Option(help: ArgumentHelp("The otpauth:// address, or - to read it from standard input.", valueName: "address"))
    var uri: String?

    @Option(help: ArgumentHelp("Read the address from the QR code in this picture.", valueName: "file"), completion: .file())
    var picture: String?

    @OptionGroup var selection: ItemSelection
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var source: SecretSource
    @OptionGroup var user: UserOptions

    func validate() throws {
        if (selection.nameAndAccount.name ?? "").isEmpty {
            throw ValidationError("Name the one-time code like its password: vauban code add github/anna")
        }
        if source.hex || source.empty { throw ValidationError("The key of one-time codes is text; leave out --hex and --empty") }
        if [picture != nil, uri != nil, !source.isDefault].count(where: { $0 }) > 1 {
            throw ValidationError("Use one of --picture, --uri and --secret-fd")
        }
    }

    func run() throws {
        // First of all, since an argument stays visible until it is overwritten.
        let client = try ServiceClient(user)
        let key = try key(client)
        try client.openNow()
        try CodeKeyring(client: client).add(key, for: selection, protection)
        say("Added. To get a code: vauban code get \(selection.shown)")
    }

    private func key(_ client: ServiceClient) throws -> SecretBox {
        if let uri, uri != "-" { return SecretBox(SecretArgument.take(uri)) }
        guard let picture else {
            return SecretBox(try source.read(client.user, what: "the one-time codes of \(selection.shown)", offersEmpty: false))
        }
        let shown = SafeText.visible(picture)
        return try MigrationPicture(CodePicture.texts(inFile: picture)).only {
            "\(shown) has \($0) codes; to add all: vauban code import \(shown)"
        }
    }
}

struct CodeGet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print or copy the current code.",
        discussion: """
            On a terminal, a second line shows how long the code is valid. A counter-based key (HOTP) gives each code once.

            Example:
              vauban code get github/anna
              vauban code get github/anna --copy
              vauban code get github/anna --at 2026-01-01T00:00:00Z
            """)

    @Option(
        help: ArgumentHelp("Print the code for this time: seconds since 1970, or for example 2026-01-01T00:00:00Z.", valueName: "time"),
        transform: { try CodeGet.seconds($0) })
    var at: Int64?

    @Flag(name: [.long, .customShort("c")], help: "Copy the code instead of printing it; clears the clipboard after 45 seconds.")
    var copy = false

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    private static let clearAfterSeconds: Int64 = 45

    static func seconds(_ text: String) throws -> Int64 {
        if let seconds = Int64(text) { return seconds }
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw ValidationError("“\(text)” is not a time; write seconds since 1970, or for example 2026-01-01T00:00:00Z")
        }
        return Int64(date.timeIntervalSince1970.rounded(.down))
    }

    func run() throws {
        let holder = copy ? ClipboardHolder(tool: try .here(), seconds: Self.clearAfterSeconds) : nil
        let code = try CodeKeyring(client: try ServiceClient(user)).code(for: selection, at: at)
        guard let holder else {
            try SecretOutput.parse([]).write(code.text)
            if at == nil, isatty(STDOUT_FILENO) == 1, let left = code.secondsLeft {
                say("Valid for \(count(left, "second")).")
                if vauban_clock_is_synchronized() == 0 {
                    say("Note: This machine's clock is not synchronized. If the site refuses the code, check the time.")
                }
            }
            return
        }
        try holder.start(with: code.text)
        say("Copied. The clipboard is cleared in \(DurationText.exact(holder.seconds)), unless it has changed by then.")
    }
}

struct CodeList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items that have one-time codes, without the keys.",
        discussion: """
            Example:
              vauban code list
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let records = ItemTable.sorted(try CodeKeyring(client: try ServiceClient(user)).records())
        if records.isEmpty, !description.json { return say("No one-time codes yet. To add one: vauban code add github/anna") }
        try ItemTable.write(description.json ? records : records.map(CodeKeyring.namedAsItsPassword), description, withOwners: false)
    }
}

struct CodeScan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Print the addresses in the QR codes of a picture, one per line.",
        discussion: """
            The addresses contain the keys, so they are secrets. Prints each account of an authenticator's migration code. --clipboard \
            reads a picture that you copied, such as a part of the screen, so that it need not become a file. --screen has your desktop \
            take a picture of the screen, for which it may ask you, and removes the file that it leaves. --camera shows what a camera \
            sees, and takes the first QR code in it.

            Example:
              vauban code scan qr.png
              vauban code scan --clipboard
              vauban code scan --screen
              vauban code scan --camera
            """)

    @Argument(help: "A picture in PNG, JPEG, GIF, BMP or WebP.", completion: .file()) var picture: String?

    @Flag(help: "Read the picture from the clipboard.")
    var clipboard = false

    @Flag(help: "Read a picture of the screen, which your desktop takes.")
    var screen = false

    @Flag(help: "Read the code that a camera sees.")
    var camera = false

    func validate() throws {
        guard [picture != nil, clipboard, screen, camera].count(where: { $0 }) == 1 else {
            throw ValidationError("Name a picture, or use --clipboard, --screen or --camera")
        }
    }

    func run() throws {
        let texts =
            if let picture {
                try CodePicture.texts(inFile: picture)
            } else if screen {
                try CodePicture.textsOnScreen { say("Note: \($0)") }
            } else if camera {
                try CodeCamera.texts()
            } else {
                try CodePicture.texts(inClipboard: try .here())
            }
        let found = try MigrationPicture(texts)
        // The picture may be an attacker's, and a terminal interprets control characters.
        guard isatty(STDOUT_FILENO) == 0 || found.addresses.allSatisfy({ $0.secret.isTextForTerminal() }) else {
            throw Refusal(.badParameter, "The QR code contains control characters and was not written to the terminal; redirect the output")
        }
        for address in found.addresses {
            let line = SecretBuilder()
            line.append(address.secret)
            line.append(0x0A)
            let isComplete = line.kept.secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
            guard isComplete else { throw Refusal.notWritten("The addresses") }
        }
        found.reportRemaining()
    }
}

struct CodeImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add every one-time code in the QR codes of a picture, such as an authenticator's export.",
        discussion: """
            Names each code after its issuer and account. Prints one line per code to standard output. Reports a code that already exists, \
            and one whose name has another key, and changes neither. Exits 0 if every code is stored now, 1 if one is not.

            Example:
              vauban code import export.png
            """)

    @Argument(help: "A picture in PNG, JPEG, GIF, BMP or WebP.", completion: .file()) var picture: String
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let found = try MigrationPicture(CodePicture.texts(inFile: picture))
        let client = try ServiceClient(user)
        try client.openNow()
        let run = CodeImportRun(keyring: CodeKeyring(client: client), protection: protection)
        var isWhole = found.unsupported.isEmpty
        for (index, address) in found.addresses.enumerated() {
            let outcome = try run.store(address, number: index + 1)
            print(outcome.line)
            isWhole = isWhole && outcome.isStored
        }
        found.reportRemaining()
        if !isWhole { throw ExitCode(1) }
    }
}
