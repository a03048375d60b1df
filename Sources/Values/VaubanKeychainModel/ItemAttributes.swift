package import VaubanDER

/// The attributes of one item or query: one value per name, in the order of the names, so that equal sets have equal bytes.
package struct ItemAttributes: Sendable {
    package typealias Element = (name: AttributeName, value: AttributeValue)

    /// Sets are small, so searching a sorted array is faster than building a hash table.
    private var sorted: [Element]

    package init(_ values: [AttributeName: AttributeValue] = [:]) {
        sorted = values.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    private init(sorted: [Element]) { self.sorted = sorted }

    package subscript(name: AttributeName) -> AttributeValue? {
        get {
            let place = place(of: name)
            return place < sorted.count && sorted[place].name == name ? sorted[place].value : nil
        }
        set {
            let place = place(of: name)
            switch (newValue, place < sorted.count && sorted[place].name == name) {
            case (let value?, true): sorted[place].value = value
            case (let value?, false): sorted.insert((name, value), at: place)
            case (nil, true): sorted.remove(at: place)
            case (nil, false): break
            }
        }
    }

    /// Returns the position of a name, or the one at which it would be inserted.
    private func place(of name: AttributeName) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].name < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package var count: Int { sorted.count }
    package var isEmpty: Bool { sorted.isEmpty }
    package var names: [AttributeName] { sorted.map(\.name) }

    package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> ItemAttributes {
        ItemAttributes(sorted: try sorted.filter(isIncluded))
    }

    /// Returns these attributes with changes applied.
    package func merging(_ changes: ItemAttributes) -> ItemAttributes {
        var merged = self
        for (name, value) in changes { merged[name] = value }
        return merged
    }

    /// Checks every name and converts every value to its form. Throws the first name that does not fit.
    package func conforming(to kind: ItemKind) throws(AttributeError) -> ItemAttributes {
        var conformed: [Element] = []
        conformed.reserveCapacity(sorted.count)
        for (name, value) in sorted {
            guard let rule = AttributeRule.rule(for: name, of: kind) else { throw .unknown(name) }
            guard let fitting = value.converted(to: rule.form) else { throw .wrongType(name) }
            conformed.append((name, fitting))
        }
        return ItemAttributes(sorted: conformed)
    }
}

extension ItemAttributes: Sequence {
    package func makeIterator() -> IndexingIterator<[Element]> { sorted.makeIterator() }
}

extension ItemAttributes: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.sorted.elementsEqual(right.sorted) { $0 == $1 } }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(sorted.count)
        for (name, value) in sorted {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}

/// Why a set of attributes is invalid for its class. The fault is the caller's.
package enum AttributeError: Error, Hashable {
    case unknown(AttributeName)
    case wrongType(AttributeName)
}

/// `ItemAttributes ::= SEQUENCE OF SEQUENCE { name UTF8String (SIZE (4)), value AttributeValue }`, names ascending.
extension ItemAttributes: DERReadable, DERWritable {
    package static let countMax = 128

    package init(from fields: inout DERFields) throws {
        var sorted: [Element] = []
        while !fields.isEmpty {
            let (name, value) = try fields.sequence("attribute") { pair in
                (AttributeName(rawValue: try pair.text("name", max: 4)), try AttributeValue(choiceFrom: &pair))
            }
            guard let name, sorted.last.map({ $0.name < name }) ?? true else { throw DERError("attributes are out of order") }
            guard sorted.count < Self.countMax else { throw DERError("attributes are too many") }
            sorted.append((name, value))
        }
        self.init(sorted: sorted)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { list in
            for (name, value) in sorted {
                try list.sequence { pair in
                    try pair.text(name.rawValue)
                    try value.write(into: &pair)
                }
            }
        }
    }
}
