internal import SwiftASN1

/// A distinguished name in the form in which Apple compares names: it ignores the case of ASCII letters and differences in spaces. ASCII
/// values of PrintableString, IA5String and UTF8String are upper-cased and trimmed, with single spaces; all others are unchanged.
struct NormalizedName: Hashable {
    /// The relative names one after another, without the outer SEQUENCE.
    let content: [UInt8]

    /// Parses a name, a DER sequence; nil for other bytes.
    init?(sequence bytes: [UInt8]) {
        guard let root = try? DER.parse(bytes), root.identifier == .sequence, case .constructed(let sets) = root.content else { return nil }
        var serializer = DER.Serializer()
        do {
            for set in sets { try Self.write(set, into: &serializer) }
        } catch {
            return nil
        }
        content = serializer.serializedBytes
    }

    /// Returns the content as a complete name.
    static func sequence(_ content: [UInt8]) -> [UInt8] {
        var serializer = DER.Serializer()
        serializer.appendConstructedNode(identifier: .sequence) { $0.serializeRawBytes(content) }
        return serializer.serializedBytes
    }

    private static func write(_ node: ASN1Node, into serializer: inout DER.Serializer) throws {
        switch node.content {
        case .constructed(let children):
            try serializer.appendConstructedNode(identifier: node.identifier) { inner in
                for child in children { try write(child, into: &inner) }
            }
        case .primitive(let bytes):
            let isText =
                [ASN1Identifier.printableString, .ia5String, .utf8String].contains(node.identifier) && bytes.allSatisfy { $0 < 0x80 }
            serializer.appendPrimitiveNode(identifier: node.identifier) { $0.append(contentsOf: isText ? folded(bytes) : Array(bytes)) }
        }
    }

    private static func folded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.split(whereSeparator: { [0x20, 0x09, 0x0A, 0x0D].contains($0) }).map { word in
            word.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
        }.joined(separator: [0x20]).map(\.self)
    }
}
