package import SwiftASN1
package import VaubanDER

/// The attributes of one item or query: one value per name, always written in the order of the names, so that equal sets have equal bytes.
package struct ItemAttributes: Hashable, Sendable {
    package private(set) var values: [AttributeName: AttributeValue]

    package init(_ values: [AttributeName: AttributeValue] = [:]) { self.values = values }

    package subscript(name: AttributeName) -> AttributeValue? {
        get { values[name] }
        set { values[name] = newValue }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// Returns these attributes with changes applied.
    package func merging(_ changes: ItemAttributes) -> ItemAttributes {
        ItemAttributes(values.merging(changes.values) { $1 })
    }

    /// Checks every name and converts every value to its form. Throws the first name that does not fit.
    package func conforming(to kind: ItemKind) throws(AttributeError) -> ItemAttributes {
        var conformed: [AttributeName: AttributeValue] = [:]
        for (name, value) in values {
            guard let rule = AttributeRule.rule(for: name, of: kind) else { throw .unknown(name) }
            guard let fitting = value.converted(to: rule.form) else { throw .wrongType(name) }
            conformed[name] = fitting
        }
        return ItemAttributes(conformed)
    }
}

/// Why a set of attributes is not valid for its class.
package enum AttributeError: Error, Hashable {
    case unknown(AttributeName)
    case wrongType(AttributeName)
}

/// `ItemAttributes ::= SEQUENCE OF SEQUENCE { name UTF8String (SIZE (4)), value AttributeValue }`, names ascending.
extension ItemAttributes: DERReadable, DERWritable {
    package static let countMax = 128

    package init(from fields: inout DERFields) throws {
        var values: [AttributeName: AttributeValue] = [:]
        var last: AttributeName?
        while !fields.isEmpty {
            let (name, value) = try fields.sequence("attribute") { pair in
                (AttributeName(rawValue: try pair.text("name", max: 4)), try AttributeValue(choiceFrom: &pair))
            }
            guard name.rawValue.utf8.count == 4, last.map({ $0 < name }) ?? true else { throw DERError("attributes are out of order") }
            guard values.count < Self.countMax else { throw DERError("attributes are too many") }
            values[name] = value
            last = name
        }
        self.init(values)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { list in
            for name in values.keys.sorted() {
                guard let value = values[name] else { continue }
                try list.sequence { pair in
                    try pair.text(name.rawValue)
                    try value.write(into: &pair)
                }
            }
        }
    }
}
