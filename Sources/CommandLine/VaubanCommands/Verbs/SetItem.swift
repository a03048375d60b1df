import ArgumentParser

struct SetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Keeps a secret: adds the item, or gives an existing one a new secret.",
        discussion: """
            The secret comes from a prompt, from standard input, or from a descriptor, never from an argument; or it is made up \
            (--generate), and vauban get shows or copies it. An empty one is \
            refused without --empty. Where the item exists you are asked, on a terminal, whether to replace its secret; where there \
            is no terminal it ends with 45 unless --replace is given.

            Example:
              vauban set github/anna
              vauban set github/anna --generate --length 24 --characters lower,upper,digits
              vauban set wifi/guests --generate --words 6
              pass github | head -n 1 | vauban set github/anna --replace
              printf %s "$token" | vauban set --service ci --account deploy --when after-first-unlock
              vauban set bank/anna --require presence
              vauban set --url https://anna@example.com/ --this-device
            """)

    @Flag(help: "Replace the secret of an item that exists, without asking.")
    var replace = false

    @OptionGroup var keeping: ItemKeeping

    func validate() throws { try keeping.requireName() }

    func run() throws { try keeping.run(.set(replaces: replace)) }
}

struct AddItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Keeps a secret as a new item, or many from a document; refuses where set would change one.",
        discussion: """
            It ends with 45 where the item is there already, before a secret is asked for. With --json it reads a document of items, \
            with the keys that show --json has, and secret. Nothing is added where anything in it is wrong, which is told by line \
            and key, or is there already. An empty secret is refused without --empty.

            Example:
              vauban add github/anna
              vauban add --json - <items.json
            """)

    @Option(help: ArgumentHelp("Add the items of this JSON document; - is standard input.", valueName: "file"), completion: .file())
    var json: String?

    @OptionGroup var keeping: ItemKeeping

    func validate() throws {
        guard json != nil else { return try keeping.requireName() }
        guard keeping.selection.isEmpty, keeping.protection.isEmpty, keeping.source.isStandard, !keeping.generation.generate else {
            throw ValidationError("With --json each item is said in the document: its name, its secret, and when it can be read.")
        }
    }

    func run() throws {
        guard let json else { return try keeping.run(.add) }
        try BatchAdd.run(json, try Session(keeping.user), takesEmpty: keeping.source.empty)
    }
}

struct UpdateItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Gives an existing item a new secret; refuses where set would add one.",
        discussion: """
            It ends with 44 where there is no such item, before a secret is asked for.

            Example:
              vauban update github/anna
            """)

    @OptionGroup var keeping: ItemKeeping

    func validate() throws { try keeping.requireName() }

    func run() throws { try keeping.run(.update) }
}
