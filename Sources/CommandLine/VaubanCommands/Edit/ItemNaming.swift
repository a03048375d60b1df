package import ArgumentParser
package import VaubanKeychainModel
package import VaubanRefusal

/// An item's new name: `service/account` or `server/account`, split at the first slash as everywhere, or a reference to that name.
package struct ItemNaming {
    package let name: String
    package let account: String

    /// Parses a name. Throws a usage error if the part before the slash is empty.
    package init(_ given: String) throws(ValidationError) {
        let word: String
        do throws(ParsingError) { word = try ItemReference.name(in: given) ?? given } catch {
            throw ValidationError(error.sentence)
        }
        let slash = word.firstIndex(of: "/")
        name = String(word[..<(slash ?? word.endIndex)])
        account = slash.map { String(word[word.index(after: $0)...]) } ?? ""
        if name.isEmpty { throw ValidationError("The new name must be service/account or server/account") }
    }

    /// Returns the changes that give an item this name. A label that only repeats the old name changes with it.
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

    /// Returns the label for a change of name, or nil if the label was chosen by hand or stays the same.
    package func labelFollowing(_ changes: ItemAttributes) -> String? {
        guard text(.label).isEmpty || text(.label) == defaultLabel else { return nil }
        let label = ItemRecord(kind: kind, attributes: attributes.merging(changes)).defaultLabel
        return label == text(.label) ? nil : label
    }

    /// Returns whether these attributes are the same in another record of the item.
    package func hasSame(_ names: [AttributeName], as other: ItemRecord) -> Bool {
        names.allSatisfy { attributes[$0] == other.attributes[$0] }
    }

    /// Returns the comment with its tags. Throws if it is not text, which an editor could not preserve.
    package func taggedComment() throws(Refusal) -> TaggedComment {
        if case .data(let bytes)? = attributes[.comment], String(validating: bytes, as: UTF8.self) == nil {
            throw Refusal(.badParameter, "The item's comment is not text; it cannot be edited")
        }
        return TaggedComment(text(.comment))
    }
}
