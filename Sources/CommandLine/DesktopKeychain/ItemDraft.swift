import VaubanAccessPolicy
import VaubanCommands
package import VaubanKeychainModel
package import VaubanRefusal

/// The names of a password as the user edits them.
package struct ItemDraft: Hashable, Sendable {
    package var title: String
    package var user: String
    /// The URL of an internet password; nil for any other, which has none.
    package var website: String?
    package var tags: String
    package var notes: String

    /// Throws `badParameter` if the item's comment is not text.
    package init(_ page: ItemPage) throws(Refusal) {
        let record = page.record
        let comment = try record.taggedComment()
        title = record.text(.label)
        user = record.text(.account)
        website = record.kind == .internetPassword ? ItemPage.website(of: record) : nil
        tags = comment.tags.joined(separator: ", ")
        notes = comment.text
    }

    /// Returns the attributes that differ from those of the item.
    package func changes(to page: ItemPage) throws -> ItemAttributes {
        let record = page.record
        var changes = ItemAttributes()
        if let website, website != ItemPage.website(of: record) { changes = try Self.place(website) }
        if user != record.text(.account) { changes[.account] = .text(user) }
        let comment = TaggedComment(text: notes, tags: TaggedComment.tags(in: tags))
        if comment != (try record.taggedComment()) { changes[.comment] = .text(comment.comment) }
        if title != record.text(.label) {
            changes[.label] = .text(title)
        } else if let label = record.labelFollowing(changes) {
            changes[.label] = .text(label)
        }
        return changes
    }

    /// Returns the changes that keep the name and user name of a password's one-time code equal to those of the password.
    package func codeChanges(_ code: ItemRecord, from old: ItemRecord, changes: ItemAttributes) -> ItemAttributes {
        let new = ItemRecord(kind: old.kind, attributes: old.attributes.merging(changes))
        let (was, now) = (ItemLogin(old), ItemLogin(new))
        var codeChanges = ItemAttributes()
        if now.name != was.name { codeChanges[.service] = .text(ImportPlan.codesPrefix + now.name) }
        if now.account != was.account { codeChanges[.account] = .text(now.account) }
        guard !codeChanges.isEmpty else { return codeChanges }
        // A label that repeats that of the password, or the name, changes with it.
        let label = code.text(.label)
        if label == old.text(.label) {
            codeChanges[.label] = .text(new.text(.label))
        } else if label == was.words {
            codeChanges[.label] = .text(now.words)
        }
        if codeChanges[.label] == code.attributes[.label] { codeChanges[.label] = nil }
        return codeChanges
    }

    /// Returns server, protocol, port and path of a URL.
    static func place(_ website: String) throws(Refusal) -> ItemAttributes {
        do throws(ParsingError) {
            let address = try WebAddress(website)
            return ItemAttributes([
                .server: .text(address.server), .protocolName: .text(ProtocolCode.code(for: address.scheme)),
                .port: .number(address.port ?? 0), .path: .text(address.path ?? ""),
            ])
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
    }
}

/// A new password, without its secret.
package struct NewItem: Hashable, Sendable {
    /// A URL, or any other name of a service.
    package var place: String
    package var user: String

    package init(place: String, user: String) {
        self.place = place
        self.user = user
    }

    /// Whether the place is a URL, so that the item is a password of a website.
    private var isWebsite: Bool { place.contains("://") }

    /// The host whose site's rules apply.
    var server: String? { isWebsite ? (try? WebAddress(place).server) : nil }

    package func record() throws(Refusal) -> ItemRecord {
        let name = place.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard !name.allSatisfy(\.isWhitespace) else { throw Refusal(.badParameter, "Enter a website or a service") }
        var attributes = isWebsite ? try ItemDraft.place(name) : ItemAttributes([.service: .text(name)])
        attributes[.account] = .text(user)
        attributes[.accessGroup] = .text(AccessGroup.commandLine)
        var record = ItemRecord(kind: isWebsite ? .internetPassword : .genericPassword, attributes: attributes)
        record.attributes[.label] = .text(record.defaultLabel)
        return record
    }
}
