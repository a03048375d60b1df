// The grammar of attributes as a table, so that rule and code are one thing (secitem 2, 3).

/// Which types an attribute accepts and as what it is kept.
package enum AttributeForm: Sendable {
    /// Text, data or number, each kept as it came; equality is over the bytes.
    case blob
    /// Text, or data that is UTF-8.
    case text
    /// A number; text that is exactly a decimal integer becomes one, other text is kept.
    case number
    /// A date.
    case date
}

package struct AttributeRule: Sendable {
    package let name: AttributeName
    package let form: AttributeForm
    package let kinds: Set<ItemKind>
    /// Part of what makes an item unique (secitem 2.1 … 2.3). A missing one counts as empty or zero.
    package let isPrimary: Bool
    /// Set by the keychain; a caller's value is overwritten when it adds.
    package let isServerSet: Bool

    private init(_ name: AttributeName, _ form: AttributeForm, _ kinds: Set<ItemKind>, primary: Bool = false, serverSet: Bool = false) {
        self.name = name
        self.form = form
        self.kinds = kinds
        self.isPrimary = primary
        self.isServerSet = serverSet
    }

    private static let both: Set<ItemKind> = [.genericPassword, .internetPassword]
    private static let every: Set<ItemKind> = [.genericPassword, .internetPassword, .permission]
    private static let generic: Set<ItemKind> = [.genericPassword]
    private static let named: Set<ItemKind> = [.genericPassword, .permission]
    private static let internet: Set<ItemKind> = [.internetPassword]

    package static let all: [AttributeRule] = [
        AttributeRule(.accessGroup, .text, every, primary: true),
        AttributeRule(.synchronizable, .number, every, primary: true),
        AttributeRule(.account, .blob, every, primary: true),
        AttributeRule(.service, .blob, named, primary: true),
        AttributeRule(.securityDomain, .blob, internet, primary: true),
        AttributeRule(.server, .blob, internet, primary: true),
        AttributeRule(.protocolName, .number, internet, primary: true),
        AttributeRule(.authenticationType, .blob, internet, primary: true),
        AttributeRule(.port, .number, internet, primary: true),
        AttributeRule(.path, .blob, internet, primary: true),
        AttributeRule(.generic, .blob, generic),
        AttributeRule(.label, .blob, both),
        AttributeRule(.description, .blob, both),
        AttributeRule(.comment, .blob, both),
        AttributeRule(.alias, .blob, both),
        AttributeRule(.creator, .number, both),
        AttributeRule(.type, .number, both),
        AttributeRule(.isInvisible, .number, both),
        AttributeRule(.isNegative, .number, both),
        AttributeRule(.creationDate, .date, every, serverSet: true),
        AttributeRule(.modificationDate, .date, every, serverSet: true),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The rule for an attribute of a class; nil means errSecNoSuchAttr.
    package static func rule(for name: AttributeName, of kind: ItemKind) -> AttributeRule? {
        guard let rule = byName[name], rule.kinds.contains(kind) else { return nil }
        return rule
    }

    /// The attributes that make an item of this class unique, in a fixed order.
    package static func primary(of kind: ItemKind) -> [AttributeRule] {
        switch kind {
        case .genericPassword: primaryGeneric
        case .internetPassword: primaryInternet
        // The subject and what it is let do.
        case .permission: primaryGeneric
        }
    }

    private static let primaryGeneric = all.filter { $0.isPrimary && $0.kinds.contains(.genericPassword) }
    private static let primaryInternet = all.filter { $0.isPrimary && $0.kinds.contains(.internetPassword) }
}
