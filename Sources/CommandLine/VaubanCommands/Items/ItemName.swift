import VaubanKeychainModel

extension ItemRecord {
    /// All attributes of the item's primary key, which identify exactly this item; missing attributes are empty.
    var wholeName: ItemAttributes {
        var name = ItemAttributes()
        for rule in AttributeRule.primary(of: kind) {
            name[rule.name] = attributes[rule.name] ?? (rule.form.isNumber ? .number(0) : .text(""))
        }
        return name
    }

    /// Returns a query for items with the same primary key, of the same owner or of any owner.
    func namesake(ofAnyOwner: Bool) -> ItemQuery {
        var name = wholeName
        if ofAnyOwner { name[.accessGroup] = nil }
        var query = ItemQuery(kind: kind, attributes: name)
        query.includesSynchronizable = number(.synchronizable) != 0
        query.limit = .all
        query.returns.insert(.attributes)
        return query
    }

    /// Whether two records describe the same item, regardless of the owner.
    func isSameItem(as other: ItemRecord) -> Bool { kind == other.kind && comparableName == other.comparableName }

    /// The name in a form in which text and data of the same bytes are equal.
    private var comparableName: [AttributeName: [UInt8]] {
        Dictionary(
            uniqueKeysWithValues: wholeName.filter { $0.name != .accessGroup }.map { ($0.name, $0.value.equalityBytes) })
    }
}

extension AttributeForm {
    fileprivate var isNumber: Bool { if case .number = self { true } else { false } }
}
