public import Foundation
internal import Security

/// The attributes of an item beside its name. They are encrypted too, but are returned without a prompt unless the item requires the user:
/// store no secret here.
public struct ItemAttributes: Hashable, Sendable {
    /// The name shown to users.
    public var label: String?
    /// The kind of item, for users.
    public var kind: String?
    /// A comment for users.
    public var comment: String?
    /// Data of the application's choice. Only a ``GenericPassword`` has it; other items fail with ``KeychainError/Reason/invalid``.
    public var genericData: Data?

    /// Creates attributes. An add does not set those that are nil, and an update leaves them as they are.
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

/// An item's name and attributes, without its secret.
public struct KeychainItem<Name: PasswordName>: Hashable, Sendable {
    /// The name, which identifies the item.
    public let name: Name
    /// The attributes.
    public let attributes: ItemAttributes
    /// When it was added.
    public let created: Date?
    /// When it last changed.
    public let modified: Date?
    /// When it can be read; nil for a class that Apple has deprecated.
    public let accessibility: Accessibility?
    /// The access group that it belongs to.
    public let accessGroup: String?

    /// Creates an item from the attributes of a match; nil if its name is not text.
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
