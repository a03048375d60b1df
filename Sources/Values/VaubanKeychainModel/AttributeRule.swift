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
    /// The classes that have the attribute.
    package let kinds: ItemKinds
    package let part: Part
    /// Whether the keychain sets the attribute; a caller's value is overwritten when an item is added.
    package let isServerSet: Bool

    package var isPrimary: Bool { part != .none }

    /// Has no argument labels, since `all` is a table.
    private init(_ name: AttributeName, _ form: AttributeForm, _ kinds: ItemKinds, _ part: Part = .none, serverSet: Bool = false) {
        self.name = name
        self.form = form
        self.kinds = kinds
        self.part = part
        self.isServerSet = serverSet
    }

    private static let stored = ItemKinds(.genericPassword, .internetPassword, .certificate, .key)
    private static let every = stored.union(ItemKinds(.permission))
    private static let passwords = ItemKinds(.genericPassword, .internetPassword)
    private static let generic = ItemKinds(.genericPassword)
    private static let internet = ItemKinds(.internetPassword)
    private static let certificate = ItemKinds(.certificate)
    private static let key = ItemKinds(.key)

    /// All rules, in the order in which the parts of the primary key are joined, which must never change.
    package static let all: [AttributeRule] =
        [
            AttributeRule(.accessGroup, .text, every, .always),
            AttributeRule(.synchronizable, .number, every, .always),
            AttributeRule(.account, .blob, passwords.union(ItemKinds(.permission)), .always),
            AttributeRule(.service, .blob, generic.union(ItemKinds(.permission)), .always),
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

    /// Returns the rule for an attribute of a class; nil means errSecNoSuchAttr.
    package static func rule(for name: AttributeName, of kind: ItemKind) -> AttributeRule? {
        let rules = sortedByName
        var (low, high) = (0, rules.count)
        while low < high {
            let middle = (low + high) / 2
            if rules[middle].name < name { low = middle + 1 } else { high = middle }
        }
        // A few attributes have different rules for different classes.
        while low < rules.count, rules[low].name == name {
            if rules[low].kinds.contains(kind) { return rules[low] }
            low += 1
        }
        return nil
    }

    /// A search of this array needs no hash of the name and of the class.
    private static let sortedByName = all.sorted { $0.name < $1.name }

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
