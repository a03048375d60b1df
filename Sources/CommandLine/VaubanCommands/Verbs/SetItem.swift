import ArgumentParser

struct SetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a secret: add an item, or replace the secret of an existing one.",
        discussion: """
            Reads the secret from a prompt, standard input or a file descriptor, never from an argument; --generate creates one \
            instead. Refuses an empty secret unless you give --empty. If the item exists, asks on a terminal before replacing its \
            secret; without a terminal, exits 45 unless you give --replace.

            Example:
              vauban set github/anna
              vauban set github/anna --generate --length 24 --characters lower,upper,digits
              vauban set wifi/guests --generate --words 6
              vauban set --url https://anna@example.com/ --generate
              pass github | head -n 1 | vauban set github/anna --replace
              printf %s "$token" | vauban set --service ci --account deploy --when after-first-unlock
              vauban set bank/anna --require presence
              vauban set --url https://anna@example.com/ --this-device
            """)

    @Flag(help: "Replace the secret of an existing item without asking.")
    var replace = false

    @OptionGroup var keeping: ItemKeeping

    func validate() throws {
        try keeping.requireName()
        try keeping.requireVisibleName()
        try keeping.requireNoSecretArgument(.set(replaces: replace))
    }

    func run() throws { try keeping.run(.set(replaces: replace)) }
}

struct AddItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a new item, or many from a JSON document; fails if one already exists.",
        discussion: """
            Exits 45 if the item already exists, before it reads a secret. --json adds the items of a document that has the keys of \
            vauban show --json, and secret. If any part of the document is wrong or already exists, reports the line and key and \
            adds nothing. Refuses empty secrets unless you give --empty.

            Example:
              vauban add github/anna
              vauban add --json - <items.json
            """)

    @Option(help: ArgumentHelp("Add the items of this JSON document, or - for standard input.", valueName: "file"), completion: .file())
    var json: String?

    @OptionGroup var keeping: ItemKeeping

    func validate() throws {
        guard json != nil else {
            try keeping.requireName()
            try keeping.requireVisibleName()
            try keeping.selection.requireNoDesktopAttributes(for: "add")
            return try keeping.requireNoSecretArgument(.add)
        }
        guard keeping.selection.isEmpty, keeping.protection.isEmpty, keeping.sync.isEmpty, keeping.source.isStandard,
            !keeping.generation.generate
        else {
            throw ValidationError("With --json the document gives names, secrets and protection; leave out the other options")
        }
    }

    func run() throws {
        guard let json else { return try keeping.run(.add) }
        try BatchAdd.run(json, try ServiceClient(keeping.user), takesEmpty: keeping.source.empty)
    }
}

struct UpdateItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Replace the secret of an existing item; fails if it does not exist.",
        discussion: """
            Exits 44 if the item does not exist, before it reads a secret.

            Example:
              vauban update github/anna
            """)

    @OptionGroup var keeping: ItemKeeping

    func validate() throws {
        try keeping.requireName()
        try keeping.requireNoSecretArgument(.update)
    }

    func run() throws { try keeping.run(.update) }
}
