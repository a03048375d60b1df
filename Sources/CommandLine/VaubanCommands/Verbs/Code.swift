import ArgumentParser
import Foundation
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

struct Code: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores the keys of one-time codes and computes the codes for signing in.",
        discussion: """
            Example:
              vauban code add github/anna --picture qr.png
              vauban code get github/anna
              vauban code get github/anna --copy
            """,
        subcommands: [CodeAdd.self, CodeGet.self, CodeList.self, CodeScan.self, CodeImport.self])
}

struct CodeAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Stores the key that a site gives you for one-time codes.",
        discussion: """
            The key is read from a prompt, from standard input or from a descriptor, never from an argument, which other programs can \
            see: an otpauth:// address, or the key itself in letters and digits (base32). With --picture it is read from a QR code.

            Example:
              vauban code add github/anna
              vauban code add github/anna --picture qr.png
            """)

    @Option(help: ArgumentHelp("Read the address from the QR code in this picture.", valueName: "file"), completion: .file())
    var picture: String?

    @OptionGroup var selection: ItemSelection
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var source: SecretSource
    @OptionGroup var user: UserOptions

    func validate() throws {
        if (selection.nameAndAccount.name ?? "").isEmpty {
            throw ValidationError("Name the one-time code as its password: vauban code add github/anna.")
        }
        if source.hex || source.empty { throw ValidationError("--hex and --empty do not go with a key for one-time codes.") }
        if picture != nil, !source.isDefault { throw ValidationError("The key comes from --picture or from --secret-fd, not from both.") }
    }

    func run() throws {
        let session = try Session(user)
        try session.openNow()
        try CodeKeyring(session: session).add(try key(session), for: selection, protection)
        say("Added. To get a code: vauban code get \(selection.shown)")
    }

    private func key(_ session: Session) throws -> SecretBox {
        guard let picture else { return SecretBox(try source.read(session.user, what: "the one-time codes of \(selection.shown)")) }
        let addresses = try CodePicture.texts(inFile: picture).flatMap(MigrationPicture.addresses(in:))
        guard addresses.count == 1 else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(picture)) holds \(addresses.count) codes; to add all of them: vauban code import \(SafeText.visible(picture))"
            )
        }
        return addresses[0]
    }
}

struct CodeGet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints the code of now, or copies it.",
        discussion: """
            On a terminal a second line says how long the code is valid. A key that counts (HOTP) gives each code once.

            Example:
              vauban code get github/anna
              vauban code get github/anna --copy
              vauban code get github/anna --at 2026-01-01T00:00:00Z
            """)

    @Option(
        help: ArgumentHelp("Print the code of this time: seconds since 1970, or as 2026-01-01T00:00:00Z.", valueName: "time"),
        transform: { try CodeGet.seconds($0) })
    var at: Int64?

    @Flag(help: "Copy the code instead of printing it; the clipboard is emptied after 45 seconds.")
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
        let code = try CodeKeyring(session: try Session(user)).code(for: selection, at: at ?? Int64(time(nil)))
        guard let holder else {
            try SecretOutput.parse([]).write(code.text)
            if at == nil, isatty(STDOUT_FILENO) == 1, let left = code.secondsLeft { say("Valid for \(count(left, "second")).") }
            return
        }
        try holder.start(with: code.text)
        say("Copied. The clipboard is emptied in \(TimeLength.words(holder.seconds)), unless it has something else by then.")
    }
}

struct CodeList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists what has a one-time code, never a key.",
        discussion: """
            Example:
              vauban code list
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let records = ItemTable.sorted(try CodeKeyring(session: try Session(user)).records())
        if records.isEmpty, !description.json { return say("There are no one-time codes yet. Add one: vauban code add github/anna") }
        try ItemTable.write(records, description, withOwners: false)
    }
}

struct CodeScan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Prints the addresses in the QR codes of a picture, one a line.",
        discussion: """
            They hold the keys, so they are secrets. The accounts of an authenticator's migration code are printed one by one.

            Example:
              vauban code scan qr.png
            """)

    @Argument(help: "A picture in PNG, JPEG, GIF, BMP or WebP.", completion: .file()) var picture: String

    func run() throws {
        for address in try CodePicture.texts(inFile: picture).flatMap(MigrationPicture.addresses(in:)) {
            let line = SecretBuilder()
            line.append(address.secret)
            line.append(0x0A)
            let isComplete = line.kept.secret.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
            guard isComplete else { throw Refusal(.storageFailed, "the addresses could not be written to standard output") }
        }
    }
}

struct CodeImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds every one-time code in the QR codes of a picture, such as an authenticator's export.",
        discussion: """
            Each is named after its issuer and account. One that exists already is left as it is, and told.

            Example:
              vauban code import export.png
            """)

    @Argument(help: "A picture in PNG, JPEG, GIF, BMP or WebP.", completion: .file()) var picture: String
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let addresses = try CodePicture.texts(inFile: picture).flatMap(MigrationPicture.addresses(in:))
        let session = try Session(user)
        try session.openNow()
        let keyring = CodeKeyring(session: session)
        var left = 0
        for address in addresses {
            let (name, account) = try CodeKeyring.name(of: address)
            let selection = try ItemSelection.parse(["--service", name, "--account", account])
            do {
                try keyring.add(address, for: selection, protection)
                print("added\t\(selection.shown)")
            } catch let refusal as Refusal where refusal.reason == .duplicateItem {
                left += 1
                print("exists\t\(selection.shown)")
            }
        }
        if left > 0 { say("\(count(left, "code")) existed already and \(left == 1 ? "was" : "were") left as before.") }
    }
}
