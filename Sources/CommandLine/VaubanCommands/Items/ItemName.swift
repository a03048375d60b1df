import VaubanKeychainModel

extension ItemRecord {
    /// All that makes it unique, and so means it alone; what is missing counts as empty.
    var wholeName: ItemAttributes {
        var name = ItemAttributes()
        for rule in AttributeRule.primary(of: kind) {
            name[rule.name] = attributes[rule.name] ?? (rule.form.isNumber ? .number(0) : .text(""))
        }
        return name
    }

    /// The query for whatever has its whole name: of its owner, or of any.
    func namesake(ofAnyOwner: Bool) -> ItemQuery {
        var name = wholeName
        if ofAnyOwner { name[.accessGroup] = nil }
        var query = ItemQuery(kind: kind, attributes: name)
        query.includesSynchronizable = number(.synchronizable) != 0
        query.limit = .all
        query.returnsAttributes = true
        return query
    }

    /// Whether two records are of the same item, whoever owns it.
    func isSameItem(as other: ItemRecord) -> Bool { kind == other.kind && comparableName == other.comparableName }

    /// Text and data of the same bytes are the same name.
    private var comparableName: [AttributeName: [UInt8]] {
        wholeName.values.filter { $0.key != .accessGroup }.mapValues(\.equalityBytes)
    }
}

extension AttributeForm {
    fileprivate var isNumber: Bool { if case .number = self { true } else { false } }
}
