import ArgumentParser
import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
package import VaubanKeychainModel
package import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List or print earlier secrets of an item.",
        discussion: """
            Vauban keeps the last ten secrets of an item, each protected as the item was at that time. Number 1 is the previous \
            secret. Below each are the attributes that were different then. The history of one owner has at most 16 MiB, deleted items \
            included; beyond that the oldest are removed. --clear destroys the earlier secrets of an item; --clear --all destroys those \
            of all your items, and all deleted items. To keep no history: vauban settings --history off

            Example:
              vauban history github/anna
              vauban history github/anna --show 2
              vauban history github/anna --json
              vauban undo github/anna
              vauban history github/anna --clear
            """)

    @Option(help: ArgumentHelp("Print the secret with this number.", valueName: "number"))
    var show: Int?

    @Flag(help: "Destroy the earlier secrets; keep the current one.")
    var clear = false

    @Flag(help: "With --clear: destroy the earlier secrets of all items, and all deleted items.")
    var all = false

    @Flag(help: "With --clear: skip confirmation; --all requires this without a terminal.")
    var yes = false

    @OptionGroup var output: SecretOutput
    @OptionGroup var description: DescriptionOptions
    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws {
        if description.json, clear || show != nil { throw ValidationError("--json lists earlier secrets; leave out --show and --clear") }
        if clear, show != nil { throw ValidationError("Use --show or --clear, not both") }
        if all, !clear { throw ValidationError("--all requires --clear; to list deleted items: vauban list --deleted") }
        if all, !selection.isEmpty { throw ValidationError("Name one item or use --all, not both") }
        if !all, selection.isEmpty { try selection.requireSomething() }
        if let show { try SecretOutput.checkNumber(show) }
    }

    func run() throws {
        let client = try ServiceClient(user)
        if clear { return try clear(client) }
        let query = try client.historyQuery(selection, for: "history", reason: "list earlier secrets of \(selection.shown)")
        if let show { return try output.write(try client.earlierSecret(show, of: query, named: selection.shown)) }
        let versions = try client.withUnlock { try client.withPrompts { try client.keychain.versions(of: query, waiting: $0) } }
        if description.json {
            let documents = versions.earlier.enumerated().map { number, version in
                EarlierValueDocument(number + 1, version, present: versions.present)
            }
            return print(try ItemDescription.json(documents))
        }
        if versions.earlier.isEmpty { return say("No earlier secrets of \(selection.shown).") }
        let lines = HistoryText.lines(versions.earlier, of: versions.present, inColumns: isatty(STDOUT_FILENO) == 1)
        for line in lines { print(line) }
    }

    private func clear(_ client: ServiceClient) throws {
        let query = all ? nil : try client.historyQuery(selection, for: "history", reason: "destroy earlier secrets of \(selection.shown)")
        if all, !yes, client.user.terminal == nil {
            throw Refusal(
                .badParameter, "--clear --all destroys all earlier secrets and all deleted items; without a terminal, give --yes too")
        }
        if !yes, let terminal = client.user.terminal {
            let what = all ? "all earlier secrets and all deleted items" : "the earlier secrets of \(selection.shown)"
            guard terminal.readWord("Destroy \(what)? This cannot be undone. Type yes to confirm: ") == "yes" else {
                throw Refusal(.cancelled, "nothing was destroyed")
            }
        }
        let cleared = try client.withUnlock { try client.withPrompts { try client.keychain.clearHistory(of: query, waiting: $0) } }
        say("\(count(cleared, "earlier secret"))\(all ? " and deleted items" : "") destroyed.")
    }
}

struct Undo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Restore the previous secret of an item.",
        discussion: """
            The current and the earlier secret change places, so a second undo reverts the first. Attributes and protection stay; to \
            restore an attribute that vauban history shows, use vauban edit. Needs your approval if reading either secret does.

            Example:
              vauban undo github/anna
              vauban undo github/anna --version 3
            """)

    @Option(help: ArgumentHelp("Restore the secret with this number in vauban history.", valueName: "number"))
    var version: Int = 1

    @OptionGroup var selection: ItemSelection
    @OptionGroup var surplus: ExtraArguments
    @OptionGroup var user: UserOptions

    func validate() throws {
        try SecretOutput.checkNumber(version)
        try selection.requireSomething()
        try surplus.requireNone(after: selection, for: "undo")
    }

    func run() throws {
        let client = try ServiceClient(user)
        let query = try client.historyQuery(selection, for: "undo", reason: "restore an earlier secret of \(selection.shown)")
        try client.withUnlock {
            try EarlierSecrets(of: selection.shown).naming {
                try client.withPrompts { try client.keychain.putBack(version, of: query, waiting: $0) }
            }
        }
        say("\(selection.shown) has its earlier secret again; to revert: vauban undo \(selection.quoted)")
    }
}

/// The rows that describe earlier values and deleted items.
package enum HistoryText {
    /// A row for each earlier version of an item, each followed by the attributes in which the version differs from the item.
    package static func lines(_ versions: [ItemVersion], of present: ItemRecord, inColumns: Bool) -> [String] {
        let rows = TextColumns(versions.enumerated().map { fields($0.offset + 1, $0.element) }).lines(inColumns: inColumns)
        let present = ItemDescription(present)
        return zip(rows, versions).flatMap { row, version in
            let differences = ItemDescription(version.record).differences(from: present)
            return [row] + differences.flatMap { $0.lines(indent: inColumns ? "    " : "\t") }
        }
    }

    private static func fields(_ number: Int, _ version: ItemVersion) -> [String?] {
        [
            "\(number)", "changed \(StatusText.time(version.changed))", "replaced \(StatusText.time(version.replaced))",
            version.record.protectionName, version.record.needsApproval ? "prompts" : nil,
        ]
    }

    static func fields(_ item: DeletedItem) -> [String?] {
        let record = item.record
        return [
            record.name, "deleted \(StatusText.time(item.deleted))", record.protectionName, record.needsApproval ? "prompts" : nil,
            record.owner == AccessGroup.commandLine ? nil : "owner: \(SafeText.visible(record.owner))",
        ]
    }
}

extension ServiceClient {
    /// Returns the query for the selected item. If another program owns it, the keychain prompts for consent.
    func historyQuery(_ selection: ItemSelection, for verb: String, reason: String) throws -> ItemQuery {
        var query = try withSuggestions(selection) { try soughtQuery(selection, for: verb) }
        query.operationPrompt = reason
        query.includesSynchronizable = true
        return query
    }

    private func soughtQuery(_ selection: ItemSelection, for verb: String) throws -> ItemQuery {
        do {
            return try query(for: try one(selection, for: verb))
        } catch let refusal as Refusal where refusal.reason == .itemNotFound && selection.owner != nil && service.mode == .system {
            let found = try matches(selection, ofAllOwners: true)
            guard let record = found.first else { throw refusal }
            guard found.count == 1 else { throw SeveralMatches(verb: verb, records: found) }
            var query = record.namesake(ofAnyOwner: false)
            query.authenticationUI = user.mayBePrompted || user.hasPreparedPasscode ? .allow : .fail
            return query
        }
    }

    /// Reads an earlier value of the item with this name, with the approval that it needs.
    func earlierSecret(_ number: Int, of query: ItemQuery, named name: String) throws -> SecretBytes {
        let entry = try withUnlock {
            try EarlierSecrets(of: name).naming { try withPrompts { try keychain.earlierValue(number, of: query, waiting: $0) } }
        }
        guard let secret = entry.takeSecret() else { throw Refusal(.itemNotFound, "\(name) had no secret at that time") }
        return secret
    }
}
