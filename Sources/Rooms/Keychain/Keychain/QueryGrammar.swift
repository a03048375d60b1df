// The rules for requests, checked before any look-up (Specs/secitem.md, 5 and 6).

internal import EnclaveWire
package import VaubanAccessPolicy
package import VaubanKeychainModel
package import VaubanKeychainWire
internal import VaubanRefusal

/// The items that a search, an update or a deletion applies to.
package struct SearchTerms: Hashable, Sendable {
    package let kind: ItemKind
    /// The attributes that a match must have, including implied ones and the access group if it is named.
    package let attributes: ItemAttributes
    package let protection: ProtectionClass?
    /// The one item that a persistent reference names.
    package var reference: [UInt8]?

    /// The group that the request names; nil if the caller's own groups apply.
    var namedGroup: String? {
        if case .text(let group)? = attributes[.accessGroup] { group } else { nil }
    }

    /// Whether the blinds that a selection demands decide alone if an item matches.
    package var isDecidedByBlinds: Bool { isDecidedByBlindList && absentAttributes.isEmpty }

    /// Whether the list of a row's blinds decides alone if the item matches: it has the blinds that a selection demands, and none of the
    /// absent attributes.
    package var isDecidedByBlindList: Bool {
        attributes.allSatisfy { name, value in
            guard let rule = AttributeRule.rule(for: name, of: kind), rule.form != .date else { return false }
            guard name == .secretServiceAttributes, !value.isEmpty else { return true }
            // What distinguishes items with equal attributes has no blind, and without a term there is none either.
            return SecretServiceAttributes(value).map { $0.instance.isEmpty && !$0.terms.isEmpty } ?? false
        }
    }

    /// The attributes that a match must not have. An attribute that counts only if it is set has no blind otherwise.
    package var absentAttributes: [AttributeName] {
        attributes.compactMap { name, value -> AttributeName? in
            guard let rule = AttributeRule.rule(for: name, of: kind), rule.part == .ifSet, value.isEmpty else { return nil }
            return name
        }
    }

    /// Returns whether an item matches. A missing attribute counts as empty if it is part of the primary key, and otherwise matches
    /// nothing.
    package func match(_ item: ItemAttributes) -> Bool {
        attributes.allSatisfy { name, wanted in
            if name == .secretServiceAttributes, let wanted = SecretServiceAttributes(wanted) {
                return SecretServiceAttributes(item[name])?.match(wanted) ?? false
            }
            let isPrimary = AttributeRule.rule(for: name, of: kind)?.isPrimary ?? false
            guard let value = isPrimary ? item.effective(name, kind) : item[name] else { return false }
            return value.hasEqualBytes(as: wanted)
        }
    }
}

package enum QueryGrammar {
    package static func terms(of query: ItemQuery, for rights: CallerRights) throws -> SearchTerms {
        var attributes = try conformed(query.attributes, query.kind)
        // A reference finds its item whether or not it is synchronizable.
        if attributes[.synchronizable] == nil, !query.includesSynchronizable, query.reference == nil {
            attributes[.synchronizable] = .number(0)
        }
        if case .text(let group)? = attributes[.accessGroup], !rights.mayName(group), !query.coversAllOwners { throw foreign(group) }
        guard query.authenticationUI != .describe || !query.returns.contains(.data) else {
            throw Refusal(.badParameter, "A description contains no value")
        }
        guard !query.coversAllOwners || query.authenticationUI == .describe else {
            throw Refusal(.badParameter, "Items of all owners are only described")
        }
        return SearchTerms(kind: query.kind, attributes: attributes, protection: query.protection, reference: query.reference)
    }

    /// Returns the terms of an update or a deletion, which cannot skip protected items.
    package static func termsToChange(of query: ItemQuery, for rights: CallerRights) throws -> SearchTerms {
        guard [.allow, .fail].contains(query.authenticationUI) else {
            throw Refusal(.badParameter, "Protected items can be skipped only in a search")
        }
        let terms = try terms(of: query, for: rights)
        if let group = terms.namedGroup, group == AccessGroup.token { throw foreign(group) }
        return terms
    }

    /// Returns the searches for the parts of identities that an update or a deletion applies to: each class that has all attributes named
    /// in the query and in the changes.
    static func sides(of query: ItemQuery, _ changes: ItemChanges? = nil) throws -> [ItemQuery] {
        let names = query.attributes.names + (changes?.attributes.names ?? [])
        let kinds = [ItemKind.certificate, .key].filter { kind in names.allSatisfy { AttributeRule.rule(for: $0, of: kind) != nil } }
        guard !kinds.isEmpty else { throw Refusal(.noSuchAttribute, "neither certificates nor keys have all of these attributes") }
        return kinds.map { kind in
            var side = query
            side.kind = kind
            return side
        }
    }

    private static func foreign(_ group: String) -> Refusal { Refusal(.missingEntitlement, printable(group: group)) }

    /// A group's name is not secret, but the text must not contain arbitrary bytes from a caller.
    private static func printable(group: String) -> String {
        let isPlain = group.utf8.count <= 100 && group.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain ? "\"\(group)\" is not one of its groups" : "the group is not one of its own"
    }

    /// Returns the record as it is stored, without its dates.
    package static func addition(_ record: ItemRecord, for rights: CallerRights) throws -> ItemRecord {
        var attributes = try conformed(record.attributes, record.kind)
        if attributes[.synchronizable] == nil { attributes[.synchronizable] = .number(0) }
        if case .text(let group)? = attributes[.accessGroup] {
            guard rights.mayWrite(group) else { throw foreign(group) }
        } else {
            guard let group = rights.defaultGroup else { throw Refusal(.missingEntitlement, "this program has no group to add to") }
            attributes[.accessGroup] = .text(group)
        }
        try check(record.accessControl, attributes)
        guard
            !attributes.isOfEnclave
                || (record.kind == .key && record.accessControl == nil && attributes[.accessControl] != nil
                    && attributes[.synchronizable] != .number(1))
        else {
            throw Refusal(.badParameter, "Only a private key that the enclave made has its token, and it stays on this device")
        }
        return ItemRecord(kind: record.kind, attributes: attributes, protection: record.protection, accessControl: record.accessControl)
    }

    /// Returns the changes of an update without those that only the keychain makes.
    package static func changes(_ changes: ItemChanges, _ kind: ItemKind, for rights: CallerRights) throws -> ItemChanges {
        // A client sends the accessibility of an access control together with it; a different one is a contradiction.
        guard changes.protection == nil || changes.accessControl == nil || changes.accessControl?.protection == changes.protection else {
            throw Refusal(.badParameter, "An item takes either an accessibility or an access control")
        }
        var attributes = try conformed(changes.attributes, kind)
        attributes[.creationDate] = nil
        attributes[.modificationDate] = nil
        if case .text(let group)? = attributes[.accessGroup], !rights.mayWrite(group) { throw foreign(group) }
        var conformed = changes
        conformed.attributes = attributes
        return conformed
    }

    /// Returns an item as an update changes it. A new accessibility alone removes the access control (Specs/secitem.md, 6.3).
    package static func changed(_ record: ItemRecord, by changes: ItemChanges) throws -> ItemRecord {
        let control = changes.accessControl ?? (changes.protection == nil ? record.accessControl : nil)
        let attributes = record.attributes.merging(changes.attributes)
        try check(control, attributes)
        try checkToken(record, changes)
        return ItemRecord(
            kind: record.kind, attributes: attributes, protection: changes.protection ?? record.protection, accessControl: control)
    }

    /// Throws if an update changes what was fixed when the enclave created a key, such as its class and access control (Specs/secitem.md,
    /// 12.1).
    private static func checkToken(_ record: ItemRecord, _ changes: ItemChanges) throws {
        let named = changes.attributes
        guard record.attributes.isOfEnclave else {
            guard !named.isOfEnclave else { throw Refusal(.badParameter, "A key cannot be moved into the enclave; make one there") }
            return
        }
        let isDetermined = [AttributeName.tokenID, .accessControl, .keyClass, .type, .applicationLabel].allSatisfy { name in
            named[name].map { $0 == record.attributes[name] } ?? true
        }
        guard isDetermined, !changes.hasData, changes.accessControl == nil, changes.protection.map({ $0 == record.protection }) ?? true,
            named[.synchronizable] != .number(1)
        else {
            throw Refusal(.badParameter, "The key is in the enclave: its value, class and access control cannot be changed")
        }
    }

    private static func check(_ control: AccessControl?, _ attributes: ItemAttributes) throws {
        guard let control else { return }
        guard attributes[.synchronizable] != .number(1) else {
            throw Refusal(.badParameter, "A synchronizable item takes no access control")
        }
        guard control.requirement(for: .encrypt) != nil else {
            throw Refusal(.badParameter, "An access control for private keys cannot protect an item")
        }
        guard !control.requirementToDecrypt.satisfiableMethods.isEmpty else {
            throw Refusal(.unsupported, "This access control needs a companion device, which Vauban does not support")
        }
    }

    private static func conformed(_ attributes: ItemAttributes, _ kind: ItemKind) throws -> ItemAttributes {
        var conformed: ItemAttributes
        do throws(AttributeError) {
            conformed = try attributes.conforming(to: kind)
        } catch .unknown(let name) {
            throw Refusal(.noSuchAttribute, "\(kind.code) items have no attribute of this name: \(name.printable)")
        } catch .wrongType(let name) {
            throw Refusal(.badParameter, "The value of \(name.printable) has a wrong type")
        }
        if let value = conformed[.secretServiceAttributes], !value.isEmpty, SecretServiceAttributes(value) == nil {
            throw Refusal(.badParameter, "The value of ssat cannot be read")
        }
        if case .text(let group)? = conformed[.accessGroup] {
            guard group != AccessGroup.permissions, group.utf8.count <= RowBinding.accessGroupBytesMax else { throw foreign(group) }
        }
        if let synchronizable = conformed[.synchronizable] {
            guard case .number(let number) = synchronizable else { throw Refusal(.badParameter, "The value of sync has a wrong type") }
            conformed[.synchronizable] = .number(number == 0 ? 0 : 1)
        }
        return conformed
    }
}

extension AttributeName {
    /// The attribute's name if it is in a table, since a text must not contain arbitrary bytes from a caller.
    fileprivate var printable: String {
        let isPlain = rawValue.utf8.count == 4 && rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isPlain && AttributeRule.all.contains { $0.name == self } ? rawValue : "(unknown)"
    }
}
