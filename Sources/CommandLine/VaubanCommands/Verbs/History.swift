import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the values that an item had before, or shows one.",
        discussion: """
            The last ten values of an item are kept, each protected as the item was when it had that value; reading one asks for you \
            where reading the item did. 1 is the value before the present one. --clear destroys what is kept of an item, --clear --all \
            everything of yours that is kept, deleted items too. To keep nothing: vauban settings --history off

            Example:
              vauban history github/anna
              vauban history github/anna --show 2
              vauban undo github/anna
              vauban history github/anna --clear
            """)

    @Option(help: ArgumentHelp("Print the value of this number.", valueName: "number"))
    var show: Int?

    @Flag(help: "Destroy the earlier values, and keep the present one.")
    var clear = false

    @Flag(help: "With --clear: of all your items, and all that you deleted.")
    var all = false

    @Flag(help: "With --clear: do not ask.")
    var yes = false

    @OptionGroup var output: SecretOutput
    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws {
        if clear, show != nil { throw ValidationError("It is --show or --clear, not both.") }
        if all, !clear { throw ValidationError("--all goes with --clear; vauban list --deleted lists deleted items.") }
        if all, !selection.isEmpty { throw ValidationError("It is one item or --all, not both.") }
        if !all, selection.isEmpty { try selection.requireSomething() }
        if let show { try SecretOutput.checkNumber(show) }
    }

    func run() throws {
        let session = try Session(user)
        if clear { return try clear(session) }
        let query = try session.historyQuery(selection, for: "history", reason: "look at earlier values of \(selection.shown)")
        if let show { return try output.write(try session.earlierSecret(show, of: query)) }
        let versions = try session.opening { try session.asking { try session.keychain.earlierValues(of: query, waiting: $0) } }
        if versions.isEmpty { return say("There is no earlier value of \(selection.shown).") }
        for (index, version) in versions.enumerated() { print(HistoryText.line(index + 1, version)) }
    }

    private func clear(_ session: Session) throws {
        let query = all ? nil : try session.historyQuery(selection, for: "history", reason: "destroy earlier values of \(selection.shown)")
        if !yes, let terminal = session.user.terminal {
            let what = all ? "all earlier values of your items and all that you deleted" : "the earlier values of \(selection.shown)"
            guard terminal.readWord("Destroy \(what)? Nothing brings them back. Type yes (anything else cancels): ") == "yes" else {
                throw Refusal(.cancelled, "nothing was destroyed")
            }
        }
        let cleared = try session.opening { try session.asking { try session.keychain.clearHistory(of: query, waiting: $0) } }
        say("\(count(cleared, "earlier value"))\(all ? " and deleted items" : "") destroyed.")
    }
}

struct Undo: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts the value before the present one back.",
        discussion: """
            The two change places, so that a second undo takes the first one back. The item's other attributes and its protection stay \
            as they are. Where reading either value asks for you, so does this.

            Example:
              vauban undo github/anna
              vauban undo github/anna --version 3
            """)

    @Option(help: ArgumentHelp("Put the value of this number back, as vauban history counts them.", valueName: "number"))
    var version: Int = 1

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws { try SecretOutput.checkNumber(version) }

    func run() throws {
        let session = try Session(user)
        let query = try session.historyQuery(selection, for: "undo", reason: "put back an earlier value of \(selection.shown)")
        try session.opening { try session.asking { try session.keychain.putBack(version, of: query, waiting: $0) } }
        say("\(selection.shown) has an earlier value again; to take that back: vauban undo")
    }
}

/// The words for earlier values and deleted items.
enum HistoryText {
    static func line(_ number: Int, _ version: ItemVersion) -> String {
        let asks = version.accessControl.map { $0.requirementToDecrypt != .none } ?? false
        let words = [
            "\(number)", "changed \(StatusText.time(version.changed))", "replaced \(StatusText.time(version.replaced))",
            version.protection.shownName,
        ]
        let line = (words + (asks ? ["asks"] : []))
        return line.joined(separator: isatty(STDOUT_FILENO) == 1 ? "  " : "\t")
    }

    static func line(_ item: DeletedItem) -> String {
        let record = item.record
        let words = [record.name, "deleted \(StatusText.time(item.deleted))", record.protectionName] + (record.asks ? ["asks"] : [])
        let owner = record.owner == AccessGroup.commandLine ? [] : ["owner: \(SafeText.visible(record.owner))"]
        return (words + owner).joined(separator: isatty(STDOUT_FILENO) == 1 ? "  " : "\t")
    }
}

extension Session {
    /// The query that means the one item, also where another program keeps it: then the keychain asks.
    func historyQuery(_ selection: ItemSelection, for verb: String, reason: String) throws -> ItemQuery {
        var query: ItemQuery
        do {
            query = self.query(for: try one(selection, for: verb))
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && selection.owner != nil && service.mode == .system {
            let found = try matches(selection, ofAllOwners: true)
            guard let record = found.first else { throw refusal }
            guard found.count == 1 else { throw SeveralMatches(verb: verb, records: found) }
            query = record.namesake(ofAnyOwner: false)
            query.authenticationUI = user.mayBeAsked || user.hasPreparedPasscode ? .allow : .fail
        }
        query.operationPrompt = reason
        query.includesSynchronizable = true
        return query
    }

    /// An earlier value, asking what it asks for.
    func earlierSecret(_ number: Int, of query: ItemQuery) throws -> SecretBytes {
        let entry = try opening { try asking { try keychain.earlierValue(number, of: query, waiting: $0) } }
        guard let secret = entry.takeSecret() else { throw Refusal(.itemNotFound, "the item had no secret then") }
        return secret
    }
}
