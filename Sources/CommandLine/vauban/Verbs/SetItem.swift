import ArgumentParser

struct SetItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Keeps a secret: adds the item, or gives an existing one a new secret.",
        discussion: """
            The secret comes from a prompt, from standard input, or from a descriptor; never from an argument.

            Example:
              vauban set github/anna
              printf %s "$token" | vauban set --service ci --account deploy --when after-first-unlock
              vauban set bank/anna --require presence
            """)

    @OptionGroup var keeping: ItemKeeping

    func run() throws { try keeping.run(.set) }
}

struct AddItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Keeps a secret as a new item; refuses where set would change one.",
        discussion: """
            It ends with 45 where the item is there already, before a secret is asked for.

            Example:
              vauban add github/anna
            """)

    @OptionGroup var keeping: ItemKeeping

    func run() throws { try keeping.run(.add) }
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

    func run() throws { try keeping.run(.update) }
}
