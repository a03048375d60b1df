import ArgumentParser
import VaubanKeychainModel
import VaubanRefusal

/// The name that an item is to have: `service/account` or `server/account`, parted at the first slash as everywhere.
struct ItemNaming {
    let name: String
    let account: String

    /// Throws a usage error where nothing stands before the slash.
    init(_ word: String) throws(ValidationError) {
        let slash = word.firstIndex(of: "/")
        name = String(word[..<(slash ?? word.endIndex)])
        account = slash.map { String(word[word.index(after: $0)...]) } ?? ""
        if name.isEmpty { throw ValidationError("The new name is service/account, or server/account.") }
    }

    /// What has to change in an item for it to have this name. A label that only repeats the name goes with it.
    func changes(to record: ItemRecord) -> ItemAttributes {
        let place: AttributeName = record.kind == .genericPassword ? .service : .server
        var changes = ItemAttributes([place: .text(name), .account: .text(account)])
        if let label = record.labelFollowing(changes) { changes[.label] = .text(label) }
        return changes
    }
}

extension ItemRecord {
    /// The label that `set` gives an item of this name.
    var defaultLabel: String {
        let name = text(kind == .genericPassword ? .service : .server)
        return kind == .internetPassword || text(.account).isEmpty ? name : "\(name)/\(text(.account))"
    }

    /// The label to go with a change of name; nil where somebody chose the label, or it stays the same.
    func labelFollowing(_ changes: ItemAttributes) -> String? {
        guard text(.label).isEmpty || text(.label) == defaultLabel else { return nil }
        let label = ItemRecord(kind: kind, attributes: attributes.merging(changes)).defaultLabel
        return label == text(.label) ? nil : label
    }

    /// The comment with its tags; refused where it is bytes that no text editor could give back.
    func taggedComment() throws(Refusal) -> TaggedComment {
        if case .data(let bytes)? = attributes[.comment], String(validating: bytes, as: UTF8.self) == nil {
            throw Refusal(.badParameter, "the item's comment is no text but bytes of a program; it is left as it is")
        }
        return TaggedComment(text(.comment))
    }
}
