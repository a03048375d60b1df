// Blind indexes: a keyed digest stands for a value, so that the database can compare what it cannot read. The layout is
// fixed (Specs/keychain-database.md); a change of it needs a new label and a migration.

internal import KeychainStore
internal import VaubanKeychainModel

/// One attribute with its value, as an index sees it.
struct IndexedAttribute {
    let name: AttributeName
    let value: AttributeValue
}

extension IndexedAttribute {
    /// What an index has of the attribute: one entry, or one for each term of the attributes of the Secret Service.
    var terms: [IndexedAttribute] {
        guard name == .secretServiceAttributes else { return [self] }
        return SecretServiceAttributes(value)?.terms.map { IndexedAttribute(name: name, value: .data($0)) } ?? []
    }
}

enum AttributeBlinds {
    static let label = Array("vauban index v1".utf8)
    static let blindBytes = 16

    /// The blind of one attribute, or of several together in the given order. Each part says its own length, so no two
    /// different lists have the same bytes.
    static func blind(_ kind: ItemKind, _ parts: [IndexedAttribute], _ key: IndexKey) -> [UInt8] {
        var message = label
        message.reserveCapacity(128)
        message.append(UInt8(truncatingIfNeeded: kind.rawValue))
        for part in parts {
            let value = part.value.equalityBytes
            message.append(contentsOf: part.name.rawValue.utf8)
            withUnsafeBytes(of: UInt64(value.count).bigEndian) { message.append(contentsOf: $0) }
            message.append(contentsOf: value)
        }
        return key.blind(message)
    }

    /// Everything that a row can be found by, under one key.
    static func ofRow(_ kind: ItemKind, _ attributes: ItemAttributes, _ key: IndexKey) -> DeviceBlinds {
        let primary = AttributeRule.primary(of: kind).filter { $0.counts(in: attributes) }.map {
            IndexedAttribute(name: $0.name, value: attributes.effective($0.name, kind))
        }
        let all = AttributeRule.rules(of: kind).filter(\.isIndexed).compactMap { rule -> IndexedAttribute? in
            guard rule.counts(in: attributes) || (rule.part != .ifSet && attributes[rule.name] != nil) else { return nil }
            return IndexedAttribute(name: rule.name, value: attributes.effective(rule.name, kind))
        }.flatMap(\.terms)
        var lookups = [blind(kind, pair(of: kind).map { IndexedAttribute(name: $0, value: attributes.effective($0, kind)) }, key)]
        for name in singles(of: kind) {
            guard let value = attributes[name], !value.isEmpty else { continue }
            lookups.append(blind(kind, [IndexedAttribute(name: name, value: value)], key))
        }
        lookups += all.filter { $0.name == .secretServiceAttributes }.map { blind(kind, [$0], key) }
        return DeviceBlinds(primary: blind(kind, primary, key), list: list(kind, all, key), lookups: lookups)
    }

    /// A `BlindList` of attributes.
    static func list(_ kind: ItemKind, _ attributes: [IndexedAttribute], _ key: IndexKey) -> [UInt8] {
        let entries = attributes.map { (name: $0.name, bytes: key.listed(kind, $0)) }
        let sorted = entries.sorted { $0.name == $1.name ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $0.name < $1.name }
        return sorted.flatMap(\.bytes)
    }

    /// One attribute in a `BlindList`.
    static func entry(_ kind: ItemKind, _ attribute: IndexedAttribute, _ key: IndexKey) -> [UInt8] {
        Array(attribute.name.rawValue.utf8) + blind(kind, [attribute], key).prefix(BlindList.blindBytes)
    }

    /// The attributes by which a search is best looked up; none go through the whole kind.
    static func lookup(_ kind: ItemKind, _ attributes: ItemAttributes) -> [IndexedAttribute] {
        let pair = pair(of: kind).compactMap { name in attributes[name].map { IndexedAttribute(name: name, value: $0) } }
        if pair.count == 2 { return pair }
        // Looked up by its terms instead.
        if let value = attributes[.secretServiceAttributes], !value.isEmpty { return [] }
        for name in singles(of: kind) {
            if let value = attributes[name], !value.isEmpty { return [IndexedAttribute(name: name, value: value)] }
        }
        return []
    }

    /// By which two a program names its item.
    private static func pair(of kind: ItemKind) -> [AttributeName] {
        switch kind {
        case .genericPassword, .permission: [.service, .account]
        case .internetPassword: [.server, .account]
        case .certificate: [.issuer, .serialNumber]
        case .key, .identity: [.applicationLabel, .applicationTag]
        }
    }

    /// In the order in which a search tries them.
    private static func singles(of kind: ItemKind) -> [AttributeName] {
        switch kind {
        case .genericPassword, .internetPassword, .permission: [.account, .service, .server, .generic, .label]
        case .certificate: [.publicKeyHash, .subjectKeyID, .serialNumber, .subject, .issuer, .label, .alias]
        case .key, .identity: [.applicationLabel, .applicationTag, .label]
        }
    }
}

extension AttributeRule {
    /// Dates stay out of the indexes: they change with each write, and a first-unlock key may not be there then.
    var isIndexed: Bool { form != .date }

    /// Whether the attribute takes part in what makes an item with these unique.
    func counts(in attributes: ItemAttributes) -> Bool {
        switch part {
        case .none: false
        case .always: true
        case .ifSet: attributes[name].map { !$0.isEmpty } ?? false
        }
    }
}

extension ItemAttributes {
    /// The value, or what a missing one counts as.
    func effective(_ name: AttributeName, _ kind: ItemKind) -> AttributeValue {
        if let value = self[name] { return value }
        return switch AttributeRule.rule(for: name, of: kind)?.form {
        case .number: .number(0)
        case .date: .date(0)
        default: .text("")
        }
    }
}

extension AttributeValue {
    /// Empty values are too many to look anything up by.
    var isEmpty: Bool { equalityBytes == AttributeValue.text("").equalityBytes }
}
