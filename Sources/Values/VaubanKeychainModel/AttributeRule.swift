// The grammar of attributes as a table (Specs/item-attributes.md).

/// The types that an attribute accepts, and the one in which it is stored.
package enum AttributeForm: String, Sendable {
    /// Text, data or number, each stored as given; equality compares the bytes.
    case blob
    /// Text, or data that is UTF-8.
    case text
    /// Data; text as UTF-8; a number as four bytes, little-endian.
    case data
    /// A number; text that is exactly a decimal integer becomes one, other text is stored.
    case number
    /// A date.
    case date
}

package struct AttributeRule: Sendable {
    /// Whether an attribute is part of the primary key of an item.
    package enum Part: Sendable {
        case none
        /// A missing value counts as empty, zero or the reference date.
        case always
        /// Only if present and not empty.
        case ifSet
    }

    package let name: AttributeName
    package let form: AttributeForm
    package let kinds: Set<ItemKind>
    package let part: Part
    /// Whether the keychain sets the attribute; a caller's value is overwritten when an item is added.
    package let isServerSet: Bool

    package var isPrimary: Bool { part != .none }

    /// Has no argument labels, since `all` is a table.
    private init(_ name: AttributeName, _ form: AttributeForm, _ kinds: Set<ItemKind>, _ part: Part = .none, serverSet: Bool = false) {
        self.name = name
        self.form = form
        self.kinds = kinds
        self.part = part
        self.isServerSet = serverSet
    }

    private static let stored: Set<ItemKind> = [.genericPassword, .internetPassword, .certificate, .key]
    private static let every = stored.union([.permission])
    private static let passwords: Set<ItemKind> = [.genericPassword, .internetPassword]
    private static let generic: Set<ItemKind> = [.genericPassword]
    private static let internet: Set<ItemKind> = [.internetPassword]
    private static let certificate: Set<ItemKind> = [.certificate]
    private static let key: Set<ItemKind> = [.key]

    /// All rules, in the order in which the parts of the primary key are joined, which must never change.
    package static let all: [AttributeRule] =
        [
            AttributeRule(.accessGroup, .text, every, .always),
            AttributeRule(.synchronizable, .number, every, .always),
            AttributeRule(.account, .blob, passwords.union([.permission]), .always),
            AttributeRule(.service, .blob, generic.union([.permission]), .always),
            AttributeRule(.securityDomain, .blob, internet, .always),
            AttributeRule(.server, .blob, internet, .always),
            AttributeRule(.protocolName, .number, internet, .always),
            AttributeRule(.authenticationType, .blob, internet, .always),
            AttributeRule(.port, .number, internet, .always),
            AttributeRule(.path, .blob, internet, .always),
            AttributeRule(.certificateType, .number, certificate, .always),
            AttributeRule(.issuer, .data, certificate, .always),
            AttributeRule(.serialNumber, .data, certificate, .always),
            AttributeRule(.keyClass, .number, key, .always),
            AttributeRule(.applicationLabel, .data, key, .always),
            AttributeRule(.applicationTag, .blob, key, .always),
            AttributeRule(.creator, .number, key, .always),
            AttributeRule(.type, .number, key, .always),
            AttributeRule(.keySizeInBits, .number, key, .always),
            AttributeRule(.effectiveKeySize, .number, key, .always),
            AttributeRule(.startDate, .date, key, .always),
            AttributeRule(.endDate, .date, key, .always),
            AttributeRule(.syncViewHint, .text, stored, .ifSet),
            AttributeRule(.tokenID, .text, stored, .ifSet),
            AttributeRule(.secretServiceAttributes, .data, generic, .ifSet),
            AttributeRule(.generic, .blob, generic),
            AttributeRule(.label, .blob, every),
            AttributeRule(.description, .blob, passwords),
            AttributeRule(.comment, .blob, passwords),
            AttributeRule(.alias, .blob, passwords.union(certificate)),
            AttributeRule(.creator, .number, passwords),
            AttributeRule(.type, .number, passwords),
            AttributeRule(.isInvisible, .number, passwords),
            AttributeRule(.isNegative, .number, passwords),
            AttributeRule(.certificateEncoding, .number, certificate),
            AttributeRule(.subject, .data, certificate),
            AttributeRule(.subjectKeyID, .data, certificate),
            AttributeRule(.publicKeyHash, .data, certificate),
            AttributeRule(.accessControl, .data, key),
            AttributeRule(.creationDate, .date, every, serverSet: true),
            AttributeRule(.modificationDate, .date, every, serverSet: true),
        ]
        + [
            AttributeName.isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive, .isExtractable, .wasNeverExtractable,
            .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap,
        ].map { AttributeRule($0, .number, key) }

    private static let byKind: [ItemKind: [AttributeName: AttributeRule]] = Dictionary(
        uniqueKeysWithValues: ItemKind.allCases.map { kind in
            (kind, Dictionary(uniqueKeysWithValues: all.filter { $0.kinds.contains(kind) }.map { ($0.name, $0) }))
        } + [(.permission, Dictionary(uniqueKeysWithValues: all.filter { $0.kinds.contains(.permission) }.map { ($0.name, $0) }))])

    /// Returns the rule for an attribute of a class; nil means errSecNoSuchAttr.
    package static func rule(for name: AttributeName, of kind: ItemKind) -> AttributeRule? { byKind[kind]?[name] }

    /// Returns the attributes of the primary key of a class, in a fixed order.
    package static func primary(of kind: ItemKind) -> [AttributeRule] { primaryByKind[kind] ?? [] }

    private static let primaryByKind: [ItemKind: [AttributeRule]] = Dictionary(
        uniqueKeysWithValues: (ItemKind.allCases + [.permission]).map { kind in
            (kind, all.filter { $0.isPrimary && $0.kinds.contains(kind) })
        })

    /// Returns all attributes of a class.
    package static func rules(of kind: ItemKind) -> [AttributeRule] { rulesByKind[kind] ?? [] }

    private static let rulesByKind: [ItemKind: [AttributeRule]] = Dictionary(
        uniqueKeysWithValues: (ItemKind.allCases + [.permission]).map { kind in (kind, all.filter { $0.kinds.contains(kind) }) })
}
