package import SwiftASN1
package import VaubanDER

/// What the Secret Service keeps of an item beside label and secret: its collection, and any number of named texts
/// (Specs/secret-service.md). An item carries it as the attribute `ssat`; a query that names the attribute means every item that has all
/// that the query has.
///
/// `SecretServiceAttributes ::= SEQUENCE { collection UTF8String, instance OCTET STRING (SIZE (0 | 8)),
///   attributes SEQUENCE OF SEQUENCE { name UTF8String, value UTF8String } }`, names ascending by their bytes.
package struct SecretServiceAttributes: Sendable, DERReadable, DERWritable {
    /// One named text. Names and values are compared by their bytes, which text in Swift is not.
    package struct Pair: Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The collection's identifier; in a query empty where any collection is meant.
    package var collection: String
    /// Empty, or 8 random bytes that tell apart items with equal attributes in one collection.
    package var instance: [UInt8]
    /// In the order of their names' bytes, each name once.
    package let attributes: [Pair]

    package static let collectionBytesMax = 64

    package init(collection: String = "", instance: [UInt8] = [], attributes: [Pair]) {
        self.collection = collection
        self.instance = instance
        let byName = Dictionary(attributes.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { $1 })
        self.attributes = byName.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    /// The value of an item's attribute; nil where it is none of these.
    package init?(_ value: AttributeValue?) {
        guard case .data(let bytes)? = value, let read = try? Self(derBytes: bytes) else { return nil }
        self = read
    }

    package init(from fields: inout DERFields) throws {
        collection = try fields.text("collection", max: Self.collectionBytesMax)
        instance = try fields.octets("instance", in: 0...8)
        guard instance.isEmpty || instance.count == 8 else { throw DERError("instance is of a wrong size") }
        attributes = try fields.sequence("attributes") { list in
            var attributes: [Pair] = []
            while !list.isEmpty {
                let pair = try list.sequence("attribute") { pair in
                    Pair(try pair.text("name", max: AttributeValue.bytesMax), try pair.text("value", max: AttributeValue.bytesMax))
                }
                guard attributes.last.map({ $0.name.utf8.lexicographicallyPrecedes(pair.name.utf8) }) ?? true else {
                    throw DERError("names are out of order")
                }
                attributes.append(pair)
            }
            return attributes
        }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.text(collection)
            try fields.octets(instance)
            try fields.sequence { list in
                for attribute in attributes {
                    try list.sequence { pair in
                        try pair.text(attribute.name)
                        try pair.text(attribute.value)
                    }
                }
            }
        }
    }

    /// What an item is indexed by: its collection, and each attribute with its name. Each term says what it is and, where there are two
    /// parts, the length of the first, so that no two different terms have the same bytes.
    package var terms: [[UInt8]] {
        let collection: [[UInt8]] = collection.isEmpty ? [] : [[0] + Array(collection.utf8)]
        return collection
            + attributes.map { pair in
                [1] + withUnsafeBytes(of: UInt64(pair.name.utf8.count).bigEndian) { Array($0) } + Array(pair.name.utf8)
                    + Array(pair.value.utf8)
            }
    }

    /// Whether these have all that a query names.
    package func match(_ wanted: Self) -> Bool {
        (wanted.instance.isEmpty || wanted.instance == instance) && Set(wanted.terms).isSubset(of: terms)
    }

    /// Whether both have the same collection and the same attributes.
    package func hasSameAttributes(as other: Self) -> Bool { terms == other.terms }

    package subscript(name: String) -> String? { attributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
}
