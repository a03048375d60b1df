// Blind indexes: the database compares keyed digests of values that it cannot read. The layout is fixed (Specs/keychain-database.md); a
// change needs a new label and a migration.

internal import KeychainStore
internal import VaubanKeychainModel

/// An attribute and its value, in the form in which an index contains them.
struct IndexedAttribute {
    let name: AttributeName
    let value: AttributeValue
}

extension IndexedAttribute {
    /// The entries of the attribute in an index: one, or one for each term of the Secret Service's attributes.
    var terms: [IndexedAttribute] {
        guard name == .secretServiceAttributes else { return [self] }
        return SecretServiceAttributes(value)?.terms.map { IndexedAttribute(name: name, value: .data($0)) } ?? []
    }
}

enum AttributeBlinds {
    static let label = Array("vauban index v1".utf8)
    static let blindBytes = 16

    /// Returns the blind of one attribute, or of several together in the given order. Each part is preceded by its length, so no two
    /// different lists give the same bytes.
    static func blind(of parts: [IndexedAttribute], kind: ItemKind, key: IndexKey) -> [UInt8] {
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

    /// Returns all blinds by which a row can be found under one key.
    static func ofRow(_ attributes: ItemAttributes, kind: ItemKind, key: IndexKey) -> DeviceBlinds {
        let primary = AttributeRule.primary(of: kind).filter { $0.counts(in: attributes) }.map {
            IndexedAttribute(name: $0.name, value: attributes.effective($0.name, kind))
        }
        let all = AttributeRule.rules(of: kind).filter(\.isIndexed).compactMap { rule -> IndexedAttribute? in
            guard rule.counts(in: attributes) || (rule.part != .ifSet && attributes[rule.name] != nil) else { return nil }
            return IndexedAttribute(name: rule.name, value: attributes.effective(rule.name, kind))
        }.flatMap(\.terms)
        var lookups = [
            blind(of: pair(of: kind).map { IndexedAttribute(name: $0, value: attributes.effective($0, kind)) }, kind: kind, key: key)
        ]
        for name in singles(of: kind) {
            guard let value = attributes[name], !value.isEmpty else { continue }
            lookups.append(blind(of: [IndexedAttribute(name: name, value: value)], kind: kind, key: key))
        }
        lookups += all.filter { $0.name == .secretServiceAttributes }.map { blind(of: [$0], kind: kind, key: key) }
        return DeviceBlinds(
            primary: blind(of: primary, kind: kind, key: key), list: list(of: all, kind: kind, key: key), lookups: lookups)
    }

    /// Returns a `BlindList` of attributes.
    static func list(of attributes: [IndexedAttribute], kind: ItemKind, key: IndexKey) -> [UInt8] {
        let entries = attributes.map { (name: $0.name, bytes: key.listed(kind, $0)) }
        let sorted = entries.sorted { $0.name == $1.name ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $0.name < $1.name }
        return sorted.flatMap(\.bytes)
    }

    /// Returns one attribute as it appears in a `BlindList`.
    static func entry(for attribute: IndexedAttribute, kind: ItemKind, key: IndexKey) -> [UInt8] {
        Array(attribute.name.rawValue.utf8) + blind(of: [attribute], kind: kind, key: key).prefix(BlindList.blindBytes)
    }

    /// Returns the attributes that narrow a search best. If there are none, the search reads all rows of the kind.
    static func lookup(_ attributes: ItemAttributes, kind: ItemKind) -> [IndexedAttribute] {
        let pair = pair(of: kind).compactMap { name in attributes[name].map { IndexedAttribute(name: name, value: $0) } }
        if pair.count == 2 { return pair }
        // This attribute is looked up by its terms instead.
        if let value = attributes[.secretServiceAttributes], !value.isEmpty { return [] }
        for name in singles(of: kind) {
            if let value = attributes[name], !value.isEmpty { return [IndexedAttribute(name: name, value: value)] }
        }
        return []
    }

    /// Returns the two attributes by which a program names its item.
    private static func pair(of kind: ItemKind) -> [AttributeName] {
        switch kind {
        case .genericPassword, .permission: [.service, .account]
        case .internetPassword: [.server, .account]
        case .certificate: [.issuer, .serialNumber]
        case .key, .identity: [.applicationLabel, .applicationTag]
        }
    }

    /// Returns the attributes that are indexed individually, in the order in which a search tries them.
    private static func singles(of kind: ItemKind) -> [AttributeName] {
        switch kind {
        case .genericPassword, .internetPassword, .permission: [.account, .service, .server, .generic, .label]
        case .certificate: [.publicKeyHash, .subjectKeyID, .serialNumber, .subject, .issuer, .label, .alias]
        case .key, .identity: [.applicationLabel, .applicationTag, .label]
        }
    }
}

extension AttributeRule {
    /// Dates are not indexed, since they change with each write, when the first-unlock key may not be available.
    var isIndexed: Bool { form != .date }

    /// Returns whether the attribute is part of the item's primary key.
    func counts(in attributes: ItemAttributes) -> Bool {
        switch part {
        case .none: false
        case .always: true
        case .ifSet: attributes[name].map { !$0.isEmpty } ?? false
        }
    }
}

extension ItemAttributes {
    /// Returns the value, or the default for a missing one.
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
    /// Whether the value is empty. Empty values are too common to be useful for a look-up.
    var isEmpty: Bool { equalityBytes == AttributeValue.text("").equalityBytes }
}
