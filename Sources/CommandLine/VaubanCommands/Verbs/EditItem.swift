import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal

struct EditItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes what is kept about an item, without its secret being typed or shown.",
        discussion: """
            Options say what changes, and all else stays: secret, dates, persistent reference. --when, --require and --this-device change \
            the protection as they do with set, here without the secret; --require nothing takes the question away, which the item \
            asks you about one last time. Without any of them, on a terminal, everything but the secret opens in your editor \
            ($VISUAL or $EDITOR).

            Example:
              vauban edit github/anna
              vauban edit github/anna --label "GitHub, work" --tag work --comment "second factor on the blue key"
              vauban edit bank/anna --require presence
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var edits: ItemEdits
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws { try selection.requireSomething() }

    func run() throws {
        let session = try Session(user)
        let target = try session.target(selection, for: "edit")
        var changes = ItemChanges(attributes: ItemAttributes())
        if edits.isEmpty, protection.isEmpty {
            guard let terminal = session.user.terminal else {
                throw Refusal(.badParameter, "what is to change? Name it by options, such as --label; on a terminal an editor opens")
            }
            guard let attributes = try ItemEditor(target.record, terminal).run() else { return say("Nothing was changed.") }
            changes.attributes = attributes
        } else {
            changes.attributes = try edits.changes(to: target.record)
        }
        try protection.lay(over: target.record, &changes)
        let name = target.record.name
        if !changes.attributes.isEmpty || changes.protection != nil || changes.accessControl != nil {
            try session.change(target, changes, reason: "edit \(name)")
        }
        guard let group = edits.group, group != target.record.owner else { return }
        try give(target, changes, to: group, session)
    }

    /// The change of owner comes last, and the item is meant by the name that it has now.
    private func give(_ target: ItemTarget, _ changes: ItemChanges, to group: String, _ session: Session) throws {
        var record = target.record
        record.attributes = record.attributes.merging(changes.attributes)
        var query = record.namesake(ofAnyOwner: false)
        query.authenticationUI = target.query.authenticationUI
        let moved = ItemTarget(record: record, query: query, isForeign: target.isForeign)
        do {
            try session.transfer(
                moved, ItemAttributes([.accessGroup: .text(group)]), keepsOriginal: false,
                reason: "give \(record.name) to \(SafeText.line(group, max: 100))")
        } catch {
            if changes != ItemChanges(attributes: ItemAttributes()) { say("vauban: the item was edited, but it kept its owner.") }
            throw error
        }
    }
}
