import ArgumentParser
import Glibc
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal

struct Canary: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "canary",
        abstract: "Show uses of canary items: secrets that nobody should read, and whose use you are told of.",
        discussion: """
            To every program a canary is an item like any other. When one is read, changed or deleted, you are told at once, by a \
            notification on the desktop, in the journal, and by the next vauban command. Without a subcommand, shows the uses that \
            you have not seen.

            Example:
              vauban set aws/root
              vauban canary add aws/root
              vauban canary
              vauban canary seen
            """,
        subcommands: [CanaryUses.self, CanaryAdd.self, CanaryRemove.self, CanaryList.self, CanarySeen.self],
        defaultSubcommand: CanaryUses.self)
}

struct CanaryUses: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uses", abstract: "Show the uses of canary items that you have not seen.", shouldDisplay: false)

    @Flag(help: "Print JSON, one object on each line.")
    var json = false

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let alerts = try client.keychain.canaryAlerts()
        guard alerts.unseen > 0 else { return say("No canary item was used since you last looked.") }
        let uses = try client.withUnlock {
            try client.withPrompts { waiting in
                let reader = AccessLogReader(keychain: client.keychain, ofAllOwners: true, waiting: waiting)
                return try reader.uses(matching: AccessLogFilter(onlyCanaries: true), limit: .max, after: (alerts.from ?? 1) - 1).uses
            }
        }
        for use in uses { print(json ? try use.json() : use.text) }
        fflush(nil)
        let shown = uses.reduce(0) { $0 + $1.item.count }
        if shown < alerts.unseen { say("The log has no more of \(count(alerts.unseen - shown, "further use")) of canary items.") }
        say("To confirm that you have seen it: vauban canary seen")
    }
}

struct CanaryAdd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make an item a canary.",
        discussion: """
            The item and its secret stay as they are. Use a name that a thief would look for, and a secret that is worth nothing.

            Example:
              vauban canary add aws/root
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws { try selection.requireSomething() }

    func run() throws {
        try CanaryMarking.mark(selection, isCanary: true, for: "canary add", client: try ServiceClient(user))
        say("You will be told when \(selection.shown) is used. No program can tell that it is a canary.")
    }
}

struct CanaryRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Make a canary an ordinary item again.",
        discussion: """
            You approve this, so that no program can. The item and its secret stay.

            Example:
              vauban canary remove aws/root
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws { try selection.requireSomething() }

    func run() throws {
        try CanaryMarking.mark(selection, isCanary: false, for: "canary remove", client: try ServiceClient(user))
        say("\(selection.shown) is an ordinary item.")
    }
}

struct CanaryList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the canary items.",
        discussion: """
            You approve this, so that no program learns which items are canaries.

            Example:
              vauban canary list
            """)

    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let canaries = try client.withUnlock { try client.withPrompts { try client.keychain.canaries(waiting: $0) } }
        if canaries.isEmpty, !description.json { return say("No canary items.") }
        try ItemTable.write(ItemTable.sorted(canaries), description, withOwners: client.service.mode == .system)
    }
}

struct CanarySeen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seen",
        abstract: "Confirm that you have seen the uses so far; they are not shown again.",
        discussion: """
            You approve this, so that no program hides what it did. The uses stay in vauban log.

            Example:
              vauban canary seen
            """)

    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let alerts = try client.keychain.canaryAlerts()
        guard alerts.unseen > 0 else { return say("No canary item was used since you last looked.") }
        try client.withUnlock { try client.withPrompts { try client.keychain.acknowledgeCanaryAlerts(alerts.total, waiting: $0) } }
        say("Seen: \(count(alerts.unseen, "use")) of canary items.")
    }
}

enum CanaryMarking {
    static func mark(_ selection: ItemSelection, isCanary: Bool, for verb: String, client: ServiceClient) throws {
        let target = try client.target(selection, for: verb)
        var query = target.query
        query.operationPrompt = isCanary ? "make \(target.record.name) a canary" : "make \(target.record.name) an ordinary item"
        let wanted = query
        try client.withUnlock { try client.withPrompts { try client.keychain.markCanary(wanted, isCanary: isCanary, waiting: $0) } }
    }
}

/// The notice about used canaries at the end of commands.
enum CanaryNotice {
    /// Returns the sentence, which names no item.
    static func text(_ alerts: CanaryAlerts) -> String {
        "\(alerts.unseen == 1 ? "A canary item was used" : "Canary items were used \(alerts.unseen) times"). To see by which program: "
            + "vauban canary"
    }

    /// Prints the notice at the end of a command that runs on a terminal, unless the command itself printed it. Starts no service, and
    /// prints nothing without one.
    static func show() {
        let silent = [Canary._commandName, Status._commandName]
        guard isatty(STDERR_FILENO) == 1, !silent.contains(CommandLine.arguments.dropFirst().first ?? ""),
            let service = try? Service.current(),
            let alerts = try? KeychainClient(service: service, startsService: false).canaryAlerts(), alerts.unseen > 0
        else { return }
        say("vauban: \(text(alerts))")
    }
}
