package import ArgumentParser
package import VaubanKeychainModel
package import VaubanRefusal

/// The name that an item is to have: `service/account` or `server/account`, parted at the first slash as everywhere.
package struct ItemNaming {
    package let name: String
    package let account: String

    /// Throws a usage error where nothing stands before the slash.
    package init(_ word: String) throws(ValidationError) {
        let slash = word.firstIndex(of: "/")
        name = String(word[..<(slash ?? word.endIndex)])
        account = slash.map { String(word[word.index(after: $0)...]) } ?? ""
        if name.isEmpty { throw ValidationError("The new name must be service/account or server/account.") }
    }

    /// What has to change in an item for it to have this name. A label that only repeats the name goes with it.
    package func changes(to record: ItemRecord) -> ItemAttributes {
        let place: AttributeName = record.kind == .genericPassword ? .service : .server
        var changes = ItemAttributes([place: .text(name), .account: .text(account)])
        if let label = record.labelFollowing(changes) { changes[.label] = .text(label) }
        return changes
    }
}

extension ItemRecord {
    /// The label that `set` gives an item of this name.
    package var defaultLabel: String {
        let name = text(kind == .genericPassword ? .service : .server)
        return kind == .internetPassword || text(.account).isEmpty ? name : "\(name)/\(text(.account))"
    }

    /// The label to go with a change of name; nil where somebody chose the label, or it stays the same.
    package func labelFollowing(_ changes: ItemAttributes) -> String? {
        guard text(.label).isEmpty || text(.label) == defaultLabel else { return nil }
        let label = ItemRecord(kind: kind, attributes: attributes.merging(changes)).defaultLabel
        return label == text(.label) ? nil : label
    }

    /// The comment with its tags; refused where it is bytes that no text editor could give back.
    package func taggedComment() throws(Refusal) -> TaggedComment {
        if case .data(let bytes)? = attributes[.comment], String(validating: bytes, as: UTF8.self) == nil {
            throw Refusal(.badParameter, "The item's comment is not text; it cannot be edited")
        }
        return TaggedComment(text(.comment))
    }
}
