import VaubanKeychainModel
import VaubanSecretBytes
import VaubanSecretText

/// The names of the items of one import. All items of a record get the same name, so that its one-time codes and protected fields are those
/// of its password, and not those of another record's.
///
/// The names depend on the records and not on the keychain, so that importing a file again finds the items of the first time.
package struct ImportNames {
    /// An item under its name.
    package struct Named {
        package let item: PlannedItem
        /// Whether the name of the record, or of an attached item apart from its record, is not the planned one.
        package let isRenamed: Bool
        /// Whether no item before has this name.
        fileprivate let isNew: Bool
    }

    /// The items of all records, with their secrets.
    private var secrets: [ItemIdentity: SecretBox] = [:]
    /// The names of logins that exist only for items attached to another login: `Mail (2)` for the second code of `Mail`.
    private var attachedOnly: Set<ItemIdentity> = []

    package init() {}

    /// Returns the items of a record under names that no other secret has.
    ///
    /// An internet password has no other name, so its attached items are named one by one; it throws if another secret has its name.
    /// - Parameter group: Distinguishes two records of one name; nil if the items must keep their names.
    package mutating func name(_ items: [PlannedItem], group: String?) throws(SkipReason) -> [Named] {
        var shared = items
        var number = 1
        if let group, items.first?.record.kind == .genericPassword {
            while !areFree(shared) {
                number += 1
                shared = try items.map { item throws(SkipReason) in try item.distinguished(number, group) }
            }
        }
        var named: [Named] = []
        var own: Set<ItemIdentity> = []
        for item in shared {
            // A group does not distinguish two codes of one record.
            let isFurther = !own.insert(ItemIdentity(item.record)).inserted
            named.append(try name(item, group: isFurther ? "" : group, isRenamed: named.isEmpty && number > 1))
        }
        return named
    }

    /// Releases the names of a record that was not taken and cannot have another name: a later record may be the item of this name.
    package mutating func withdraw(_ named: [Named]) {
        for part in named where part.isNew { secrets[ItemIdentity(part.item.record)] = nil }
    }

    private mutating func name(_ item: PlannedItem, group: String?, isRenamed: Bool) throws(SkipReason) -> Named {
        var candidate = item
        var number = 1
        while !isFree(candidate) || (number > 1 && isLogin(candidate)) {
            guard let group, item.record.kind == .genericPassword else { throw PlannedItem.nameTaken }
            number += 1
            candidate = try item.distinguished(number, group)
        }
        if number > 1 { attachedOnly.insert(candidate.login) }
        let isNew = secrets.updateValue(candidate.secret, forKey: ItemIdentity(candidate.record)) == nil
        return Named(item: candidate, isRenamed: isRenamed || number > 1, isNew: isNew)
    }

    /// Whether each name is free or has the same secret. Further codes of the record get other names than the first.
    private func areFree(_ items: [PlannedItem]) -> Bool {
        var own: Set<ItemIdentity> = []
        return items.allSatisfy { item in
            !own.insert(ItemIdentity(item.record)).inserted || (isFree(item) && !attachedOnly.contains(item.login))
        }
    }

    private func isFree(_ item: PlannedItem) -> Bool {
        guard let earlier = secrets[ItemIdentity(item.record)] else { return true }
        return earlier.secret.equals(item.secret.secret)
    }

    /// Whether the name of an attached item makes it one of a login that another record has.
    private func isLogin(_ item: PlannedItem) -> Bool { secrets[item.login] != nil }
}

extension PlannedItem {
    private static let namesMax = 1000
    fileprivate static var nameTaken: SkipReason { SkipReason("it already exists with another password") }

    /// The item under another name: with the group, if it has a name, or else with a number.
    fileprivate func distinguished(_ number: Int, _ group: String) throws(SkipReason) -> PlannedItem {
        guard number <= Self.namesMax else { throw Self.nameTaken }
        var item = self
        let mark = number == 2 && !group.isEmpty ? group : "\(number)"
        item.record.attributes[.service] = .text("\(record.text(.service)) (\(mark))")
        return item
    }

    /// The generic password to which an attached item of this name belongs; for another item, itself.
    fileprivate var login: ItemIdentity {
        var login = record
        let name = record.text(.service)
        switch role {
        case .codes: login.attributes[.service] = .text(String(name.dropFirst(ImportPlan.codesPrefix.count)))
        case .fields: login.attributes[.service] = .text(String(name.dropFirst(ImportPlan.fieldsPrefix.count)))
        case .login, .document: break
        }
        return ItemIdentity(login)
    }
}
