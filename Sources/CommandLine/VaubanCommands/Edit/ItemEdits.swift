import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

/// The changes of `vauban edit` in its options. An empty text removes an attribute.
struct ItemEdits: ParsableArguments {
    @Option(help: "The label, which Apple's tools show as the name.")
    var label: String?

    @Option(name: [.customLong("user"), .customLong("new-account")], help: "The account.")
    var user: String?

    @Option(help: ArgumentHelp("For a website password: server, protocol, port and path from this URL.", valueName: "url"))
    var website: String?

    @Option(name: [.customLong("comment"), .customLong("notes")], help: "The comment; tags stay.")
    var comment: String?

    @Option(help: "The kind of the item, in your own words.")
    var description: String?

    @Option(name: .customLong("tag"), help: "Add a tag (repeatable).")
    var tags: [String] = []

    @Option(name: .customLong("untag"), help: "Remove a tag (repeatable).")
    var untags: [String] = []

    @Option(help: "The owner, as in vauban move: cli for yourself, or a program such as program:/usr/bin/mail.")
    var group: String?

    var isEmpty: Bool {
        label == nil && user == nil && website == nil && comment == nil && description == nil && tags.isEmpty && untags.isEmpty
            && group == nil
    }

    func validate() throws {
        for tag in tags + untags {
            if let fault = TaggedComment.fault(in: tag) { throw ValidationError(ParsingError(fault).sentence) }
        }
        if let website {
            do throws(ParsingError) { _ = try WebAddress(website) } catch {
                throw ValidationError(error.sentence)
            }
        }
    }

    /// Returns the attributes to write over those of an item, without the owner.
    func changes(to record: ItemRecord) throws(Refusal) -> ItemAttributes {
        var changes = ItemAttributes()
        if let website, let address = try? WebAddress(website) {
            guard record.kind == .internetPassword else {
                throw Refusal(
                    .badParameter,
                    """
                    \(record.name) is a password of a program and has no URL; put the URL into its comment, or store it again with \
                    vauban set --url
                    """
                )
            }
            changes[.server] = .text(address.server)
            changes[.protocolName] = .text(ProtocolCode.code(for: address.scheme))
            changes[.port] = .number(address.port ?? 0)
            changes[.path] = .text(address.path ?? "")
            if let account = address.account { changes[.account] = .text(account) }
        }
        if let user { changes[.account] = .text(user) }
        if let description { changes[.description] = .text(description) }
        if comment != nil || !tags.isEmpty || !untags.isEmpty {
            var tagged = try record.taggedComment()
            if let comment { tagged.text = comment }
            tagged.tags.removeAll { untags.contains($0) }
            for tag in tags where !tagged.tags.contains(tag) { tagged.tags.append(tag) }
            changes[.comment] = .text(tagged.comment)
        }
        if let label {
            changes[.label] = .text(label)
        } else if let label = record.labelFollowing(changes) {
            changes[.label] = .text(label)
        }
        return changes
    }
}
