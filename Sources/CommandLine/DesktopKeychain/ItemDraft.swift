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
        if let website, website != ItemPage.website(of: record) { changes = try Self.place(website, user: user) }
        if changes[.account] == nil { changes[.account] = .text(user) }
        if changes[.account] == .text(record.text(.account)) { changes[.account] = nil }
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

    /// Returns server, protocol, port and path of a URL, and the account: the given user name, or if that is empty the one in the URL.
    static func place(_ website: String, user: String) throws(Refusal) -> ItemAttributes {
        do throws(ParsingError) {
            let address = try WebAddress(website)
            return ItemAttributes([
                .server: .text(address.server), .protocolName: .text(ProtocolCode.code(for: address.scheme)),
                .port: .number(address.port ?? 0), .path: .text(address.path ?? ""),
                .account: .text(user.isEmpty ? address.account ?? "" : user),
            ])
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
    }
}

extension ItemPage {
    /// Throws `unavailable` if one of these attributes has another value in the item as it is now: an edit of this page would overwrite it.
    package func throwIfChanged(_ names: [AttributeName], in present: ItemRecord) throws(Refusal) {
        guard present.hasSame(names, as: record) else {
            throw Refusal(
                .unavailable,
                "The item was changed elsewhere meanwhile; nothing was saved. Copy what you typed, press Cancel, and edit it again")
        }
    }
}

/// A new password, without its secret.
package struct NewItem: Hashable, Sendable {
    /// The address of a website, or any other name of a service.
    package var place: String
    package var user: String

    package init(place: String, user: String) {
        self.place = place
        self.user = user
    }

    /// The place on one line, without spaces around it.
    private var name: String {
        let line = place.split(whereSeparator: \.isNewline).joined(separator: " ").drop(while: \.isWhitespace)
        guard let last = line.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(line[...last])
    }

    /// The URL of a website; nil if the place is any other name. A host name needs no `https://`, as in imports, but it has a dot, since
    /// users call services by single words.
    private var website: String? {
        let name = name
        if name.contains("://") { return name }
        let host = name.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != ":" }
        return SourceURL.looksLikeHost(name) && host.dropLast().contains(".") ? "https://\(name)" : nil
    }

    /// The host whose site's rules apply.
    package var server: String? { website.flatMap { try? WebAddress($0).server } }

    package func record() throws(Refusal) -> ItemRecord {
        let name = name
        guard !name.isEmpty else { throw Refusal(.badParameter, "Enter a website or a service") }
        let website = website
        var attributes = ItemAttributes([.service: .text(name), .account: .text(user)])
        if let website { attributes = try ItemDraft.place(website, user: user) }
        attributes[.accessGroup] = .text(AccessGroup.commandLine)
        var record = ItemRecord(kind: website == nil ? .genericPassword : .internetPassword, attributes: attributes)
        record.attributes[.label] = .text(record.defaultLabel)
        return record
    }
}
