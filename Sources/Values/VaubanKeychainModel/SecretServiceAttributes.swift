package import VaubanDER

/// The parts of an item that only the Secret Service has: its collection, and any number of named texts (Specs/secret-service.md). An item
/// stores them as the attribute `ssat`; a query with this attribute matches every item that has all of the query's texts.
///
/// `SecretServiceAttributes ::= SEQUENCE { collection UTF8String, instance OCTET STRING (SIZE (0 | 8)),
///   attributes SEQUENCE OF SEQUENCE { name UTF8String, value UTF8String } }`, names ascending by their bytes.
package struct SecretServiceAttributes: Sendable, DERReadable, DERWritable {
    /// One named text. Names and values are compared by their bytes, unlike `String` in Swift.
    package struct Pair: Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The collection's identifier; empty in a query for any collection.
    package var collection: String
    /// No bytes, or 8 random bytes that distinguish items with equal attributes in one collection.
    package var instance: [UInt8]
    /// Sorted by the bytes of their names, each name once.
    package let attributes: [Pair]

    package static let collectionBytesMax = 64

    package init(collection: String = "", instance: [UInt8] = [], attributes: [Pair]) {
        self.collection = collection
        self.instance = instance
        let byName = Dictionary(attributes.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { $1 })
        self.attributes = byName.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }

    /// Decodes the value of an item's attribute; nil if it has another form.
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

    package func write(into der: inout DERWriter) throws {
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

    /// The terms by which an item is indexed: its collection, and each attribute with its name. Each term begins with its kind and, if it
    /// has two parts, contains the length of the first, so that no two different terms have the same bytes.
    package var terms: [[UInt8]] {
        let collection: [[UInt8]] = collection.isEmpty ? [] : [[0] + Array(collection.utf8)]
        return collection
            + attributes.map { pair in
                [1] + withUnsafeBytes(of: UInt64(pair.name.utf8.count).bigEndian) { Array($0) } + Array(pair.name.utf8)
                    + Array(pair.value.utf8)
            }
    }

    /// Returns whether these attributes have everything that a query names.
    package func match(_ wanted: Self) -> Bool {
        guard wanted.instance.isEmpty || wanted.instance == instance else { return false }
        guard wanted.collection.isEmpty || wanted.collection.utf8.elementsEqual(collection.utf8) else { return false }
        // Both are sorted by their names.
        var rest = attributes[...]
        return wanted.attributes.allSatisfy { pair in
            rest = rest.drop { $0.name.utf8.lexicographicallyPrecedes(pair.name.utf8) }
            return rest.first.map { $0.name.utf8.elementsEqual(pair.name.utf8) && $0.value.utf8.elementsEqual(pair.value.utf8) } ?? false
        }
    }

    /// Returns whether both have the same collection and the same attributes.
    package func hasSameAttributes(as other: Self) -> Bool { terms == other.terms }

    package subscript(name: String) -> String? { attributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
}
