import VaubanAccessPolicy
package import VaubanKeychainModel

/// What an imported record contains, and an existing item of its name and secret does not.
package enum ImportDifferences {
    private static let shownNames: [AttributeName: String] = [
        .description: "description", .generic: "generic data", .alias: "alias", .creator: "creator", .type: "type",
        .isInvisible: "invisible", .isNegative: "negative", .syncViewHint: "sync view", .tokenID: "token",
        .secretServiceAttributes: "attributes of desktop programs",
    ]

    /// Returns the differences, in the words of the report. What the record leaves empty is none.
    /// - Parameters:
    ///   - ignored: Attributes that are not the source's.
    ///   - comparesProtection: Whether protection and access control are the source's.
    package static func of(
        _ record: ItemRecord, from there: ItemRecord, ignoring ignored: Set<AttributeName> = [], comparesProtection: Bool = true
    ) -> [String] {
        var found: [String] = []
        for (name, shown) in [(AttributeName.comment, "notes"), (.label, "title")] where !ignored.contains(name) {
            let wanted = ImportPlan.withoutOrigin(record.text(name))
            if !wanted.isEmpty, wanted != ImportPlan.withoutOrigin(there.text(name)) {
                found.append("\(shown): the existing item has different ones")
            }
        }
        var others = ignored
        for name in AttributeRule.primary(of: record.kind).map(\.name) + [.comment, .label] { others.insert(name) }
        for (name, given) in record.attributes where !others.contains(name) {
            let rule = AttributeRule.rule(for: name, of: record.kind)
            // The keychain sets such attributes itself.
            if rule?.isServerSet == true { continue }
            let wanted = rule.flatMap { given.converted(to: $0.form) } ?? given
            guard !wanted.isNothing, !isEqual(wanted, to: there.attributes[name], of: name) else { continue }
            let isMissing = there.attributes[name]?.isNothing ?? true
            found.append("\(shownNames[name] ?? name.rawValue): the existing item has \(isMissing ? "none" : "another one")")
        }
        guard comparesProtection else { return found }
        if record.protection != there.protection { found.append("protection: the existing item has another one") }
        if record.accessControl != there.accessControl {
            found.append("access control: the existing item has \(there.accessControl == nil ? "none" : "another one")")
        }
        return found
    }

    private static func isEqual(_ wanted: AttributeValue, to there: AttributeValue?, of name: AttributeName) -> Bool {
        guard let there else { return false }
        // Each keychain assigns the collection and the instance itself.
        if name == .secretServiceAttributes, let wanted = pairs(wanted), let there = pairs(there) { return wanted == there }
        return wanted.hasEqualBytes(as: there)
    }

    private static func pairs(_ value: AttributeValue) -> [[[UInt8]]]? {
        SecretServiceAttributes(value)?.attributes.map { [Array($0.name.utf8), Array($0.value.utf8)] }
    }
}

extension AttributeValue {
    /// Whether the value counts as a missing one.
    fileprivate var isNothing: Bool {
        switch self {
        case .text(let text): text.isEmpty
        case .data(let bytes): bytes.isEmpty
        case .number(let number): number == 0
        case .date: false
        }
    }
}
