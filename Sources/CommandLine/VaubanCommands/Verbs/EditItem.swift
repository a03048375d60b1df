import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct EditItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an item's attributes and protection without its secret.",
        discussion: """
            Changes what the options name; secret, creation date and persistent reference stay. --when, --require and --this-device change \
            the protection as in vauban set; --require nothing, which ends the need for approval, asks for it one last time. \
            --sync shares the item with your other devices (vauban help sync). Without options, opens the attributes in your editor \
            ($VISUAL or $EDITOR).

            Example:
              vauban edit github/anna
              vauban edit github/anna --label "GitHub, work" --tag work --comment "second factor on the blue key"
              vauban edit bank/anna --require presence
              vauban edit github/anna --sync
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var edits: ItemEdits
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var sync: SyncChoice
    @OptionGroup var user: UserOptions

    func validate() throws {
        try selection.requireSomething()
        try sync.validate(beside: protection)
    }

    func run() throws {
        let client = try ServiceClient(user)
        let target = try client.target(selection, for: "edit")
        if let group = edits.group { try client.requireOwner(group) }
        if edits.isEmpty, protection.isEmpty, sync.isEmpty { return try editByHand(target, client) }
        let (edited, changes) = try client.change(target, reason: "edit \(target.record.name)") { record in
            var wanted = ItemChanges(attributes: try edits.changes(to: record))
            try protection.apply(to: record, &wanted)
            try sync.apply(to: &wanted, of: record)
            if sync.sync == true, !target.isForeign { try client.checkMayBeShared(record) }
            return wanted
        }
        client.reportAttachedItemsLeft(by: edited.record, after: changes.attributes)
        guard let group = edits.group, group != edited.record.owner else { return }
        try give(edited, changes: changes, to: group, client: client)
    }

    /// Changes what the user changes in an editor, unless it was changed elsewhere in the meantime, which the user has not seen.
    private func editByHand(_ target: ItemTarget, _ client: ServiceClient) throws {
        guard let terminal = client.user.terminal else {
            throw Refusal(.badParameter, "No changes given: use options such as --label; without options an editor needs a terminal")
        }
        let seen = target.record
        guard let attributes = try ItemEditor(seen, terminal).run() else { return say("No changes.") }
        let (edited, _) = try client.change(target, reason: "edit \(seen.name)") { record in
            guard record.hasSame(attributes.names, as: seen) else {
                throw Refusal(
                    .unavailable,
                    "\(seen.name) was changed elsewhere meanwhile; nothing was saved. To edit it again: vauban edit \(seen.options)")
            }
            return ItemChanges(attributes: attributes)
        }
        client.reportAttachedItemsLeft(by: edited.record, after: attributes)
    }

    /// Changes the owner last; the item is selected by its new name.
    private func give(_ target: ItemTarget, changes: ItemChanges, to group: String, client: ServiceClient) throws {
        var record = target.record
        record.attributes = record.attributes.merging(changes.attributes)
        var query = record.namesake(ofAnyOwner: false)
        query.authenticationUI = target.query.authenticationUI
        query.reference = target.query.reference
        let moved = ItemTarget(record: record, query: query, isForeign: target.isForeign)
        do {
            try client.transfer(
                moved, ItemAttributes([.accessGroup: .text(group)]), keepsOriginal: false,
                reason: "give \(record.name) to \(SafeText.line(group, max: 100))")
        } catch {
            if changes != ItemChanges(attributes: ItemAttributes()) { say("vauban: The item was changed, but its owner was not") }
            throw error
        }
    }
}
