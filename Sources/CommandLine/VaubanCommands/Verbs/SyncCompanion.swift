import ArgumentParser
import VaubanKeychainWire
import VaubanRefusal
import VaubanSyncModel

struct SyncAllow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Give a companion more of your synchronizable items.",
        discussion: """
            Needs your approval. The companion receives each change of these items from then on, until vauban sync disallow. A companion \
            is admitted with vauban sync approve CODE --companion.

            Example:
              vauban sync allow pi deploy/token db/anna
            """)

    @OptionGroup var change: CompanionArguments

    @Argument(help: ArgumentHelp("The names of synchronizable items.", valueName: "item"), completion: ItemCompletion.kind)
    var items: [String]

    @OptionGroup var user: UserOptions

    func run() throws {
        var (circle, companion) = try change.start(user)
        try circle.change(.allow(device: companion.device), rows: try circle.rows(called: items))
        say(
            """
            Allowed. The companion \(SafeText.visible(companion.name)) receives \(CompanionArguments.words(items)) when it runs \
            vauban sync.
            """)
        Sync.synchronizeAfterChange(circle)
    }
}

struct SyncDisallow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disallow",
        abstract: "Stop giving a companion some items.",
        discussion: """
            Needs your approval. The companion deletes these items when it runs vauban sync, and receives no further change of them. \
            It has received their secrets: change each one where it is used. --gone removes from its list the names of items that \
            were deleted, renamed, or are no longer synchronizable; an item that gets such a name would go to the companion.

            Example:
              vauban sync disallow pi deploy/token
              vauban sync disallow pi --gone
            """)

    @OptionGroup var change: CompanionArguments

    @Argument(help: ArgumentHelp("The names of synchronizable items.", valueName: "item"), completion: ItemCompletion.kind)
    var items: [String] = []

    @Flag(help: "Remove from its list the names that no item here has.")
    var gone = false

    @OptionGroup var user: UserOptions

    func validate() throws {
        if items.isEmpty != gone { throw ValidationError(gone ? "--gone takes no items" : "Name the items, or use --gone") }
    }

    func run() throws {
        var (circle, companion) = try change.start(user)
        // An item that another device has made may not be here yet.
        if gone, try !Sync.synchronize(circle).isComplete { throw ExitCode(1) }
        try circle.change(.disallow(device: companion.device), rows: try circle.rows(called: items))
        let name = SafeText.visible(companion.name)
        if gone {
            say("Every name on the list of the companion \(name) now has an item here.")
        } else {
            say(
                """
                The companion \(name) deletes \(CompanionArguments.words(items)) when it runs vauban sync. It has received these \
                secrets: change each one where it is used.
                """)
        }
        Sync.synchronizeAfterChange(circle)
    }
}

/// The companion of `vauban sync allow` and `disallow`.
struct CompanionArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The companion's name, or the beginning of its identifier.", valueName: "device"))
    var device: String

    static func words(_ items: [String]) -> String { items.map { SafeText.visible($0) }.joined(separator: ", ") }

    /// Follows the circle, and finds the companion in it.
    fileprivate func start(_ user: UserOptions) throws -> (SyncCircle, CircleMember) {
        let client = try ServiceClient(user)
        try client.openNow()
        var circle = try SyncCircle(client, try SyncHome(client.service))
        try circle.follow()
        try circle.requireMember()
        try circle.requireWholeCircle()
        return (circle, try circle.companion(device))
    }
}
