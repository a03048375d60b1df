public import Foundation
internal import Security

/// What describes an item beside its name. Attributes are encrypted too, but they are told without asking the user where
/// the item does not ask for one: put no secret here.
public struct ItemAttributes: Hashable, Sendable {
    /// The name that people see.
    public var label: String?
    /// The kind of item, in words for people.
    public var kind: String?
    /// A remark for people.
    public var comment: String?
    /// Data of the application's choice. Only a ``GenericPassword`` has it; for another item it is refused as
    /// ``KeychainError/Reason/invalid``.
    public var genericData: Data?

    /// What is nil is not set by an add, and left as it is by a change.
    public init(label: String? = nil, kind: String? = nil, comment: String? = nil, genericData: Data? = nil) {
        self.label = label
        self.kind = kind
        self.comment = comment
        self.genericData = genericData
    }

    var fields: [String: Any] {
        var fields: [String: Any] = [:]
        fields[kSecAttrLabel as String] = label
        fields[kSecAttrDescription as String] = kind
        fields[kSecAttrComment as String] = comment
        fields[kSecAttrGeneric as String] = genericData
        return fields
    }
}

/// An item as the keychain describes it, without its secret.
public struct KeychainItem<Name: PasswordName>: Hashable, Sendable {
    /// What makes it the one item that it is.
    public let name: Name
    /// What describes it.
    public let attributes: ItemAttributes
    /// When it was added.
    public let created: Date?
    /// When it last changed.
    public let modified: Date?
    /// When it can be read; nil where that is a class that Apple no longer recommends.
    public let accessibility: Accessibility?
    /// The access group that it belongs to.
    public let accessGroup: String?

    /// From the attributes of a match; nil where its name is not text.
    init?(_ itemClass: String, found: [String: Any]) {
        let fields = ItemFields(itemClass, found: found)
        guard let name = Name(fields: fields) else { return nil }
        self.name = name
        func text(_ name: CFString) -> String? { fields.values[name as String].flatMap { _ in fields.text(name) } }
        attributes = ItemAttributes(
            label: text(kSecAttrLabel), kind: text(kSecAttrDescription), comment: text(kSecAttrComment),
            genericData: fields.data(kSecAttrGeneric))
        created = found[kSecAttrCreationDate as String] as? Date
        modified = found[kSecAttrModificationDate as String] as? Date
        accessibility = text(kSecAttrAccessible).flatMap(Accessibility.init(code:))
        accessGroup = text(kSecAttrAccessGroup)
    }
}
