import VaubanRefusal
package import VaubanSecretBytes
import VaubanSecretText

/// A template of `vauban inject`: text in which `{{ vauban://service/account }}` is replaced by the secret of an item. Everything else is
/// copied as it is, also other text in braces, unless it has such an address and so is a mistyped reference.
package enum SecretTemplate {
    package enum Part: Hashable {
        /// The positions of bytes to copy.
        case text(Range<Int>)
        /// The name of an item.
        case item(String)
    }

    private static let opening = Array("{{".utf8)
    private static let closing = Array("}}".utf8)
    private static let spaces = Array(" \t".utf8)

    /// Returns the parts of a template in order. Throws an error that names the line of an invalid reference.
    package static func parts(of template: borrowing SecretBytes) throws(ParsingError) -> [Part] {
        try template.withUnsafeBytes { bytes throws(ParsingError) in
            var parts: [Part] = []
            var start = 0
            var position = 0
            while position < bytes.count {
                guard let (name, end) = try reference(at: position, in: bytes) else {
                    position += 1
                    continue
                }
                if start < position { parts.append(.text(start..<position)) }
                parts.append(.item(name))
                (start, position) = (end, end)
            }
            if start < bytes.count { parts.append(.text(start..<bytes.count)) }
            return parts
        }
    }

    /// References in the text to copy, which `vauban inject` does not replace.
    package struct Strays: Hashable, Sendable {
        /// The line of the first one in braces, which has a typing error.
        package var inBraces: Int?
        /// The line of the first one outside of braces.
        package var bare: Int?

        package init(inBraces: Int? = nil, bare: Int? = nil) {
            self.inBraces = inBraces
            self.bare = bare
        }
    }

    /// Returns the references in the parts to copy, regardless of case.
    package static func strays(in template: borrowing SecretBytes, parts: [Part]) -> Strays {
        let scheme = Array(ItemReference.scheme.utf8)
        return template.withUnsafeBytes { bytes in
            var strays = Strays()
            for case .text(let range) in parts {
                for position in range {
                    let rest = bytes[position..<range.upperBound]
                    guard rest.count > scheme.count, zip(rest, scheme).allSatisfy({ lowercase($0) == $1 }) else { continue }
                    let line = bytes[..<position].count { $0 == 0x0A } + 1
                    if isInBraces(position, of: bytes[range]) {
                        strays.inBraces = strays.inBraces ?? line
                    } else {
                        strays.bare = strays.bare ?? line
                    }
                }
            }
            return strays
        }
    }

    /// Whether braces are around a position, on its line or one beside it. Those of a comment of a template do not count.
    private static func isInBraces(_ position: Int, of text: Slice<UnsafeRawBufferPointer>) -> Bool {
        func isLineEnd(_ index: Int) -> Bool { text[index] == 0x0A }
        let above = text[..<position].indices.filter(isLineEnd).suffix(2)
        let begin = above.count == 2 ? above[above.startIndex] : text.startIndex
        let below = text[position...].indices.filter(isLineEnd).prefix(2)
        let end = below.count == 2 ? below[below.startIndex + 1] : text.endIndex
        let before = text[begin..<position], after = text[position..<end]
        guard let opened = before.indices.last(where: { before[$0...].starts(with: opening) }),
            !before[opened...].indices.contains(where: { before[$0...].starts(with: closing) }),
            after.indices.contains(where: { after[$0...].starts(with: closing) })
        else { return false }
        let content = before[(opened + opening.count)...]
        return !["/*", "!", "#"].contains { content.starts(with: Array($0.utf8)) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Returns the item that a reference at this position names, and where the reference ends; nil if there is none.
    private static func reference(at position: Int, in bytes: UnsafeRawBufferPointer) throws(ParsingError) -> (name: String, end: Int)? {
        guard bytes[position...].starts(with: opening) else { return nil }
        let content = bytes[(position + opening.count)...].drop { spaces.contains($0) }
        guard content.starts(with: Array(ItemReference.scheme.utf8)) else { return nil }
        let line = "line \(bytes[..<position].count { $0 == 0x0A } + 1)"
        let rest = content.prefix { $0 != 0x0A }
        guard let end = rest.indices.first(where: { rest[$0...].starts(with: closing) }) else {
            throw ParsingError("\(line): a reference does not end with }}")
        }
        var word = rest[..<end]
        while let last = word.last, spaces.contains(last) { word.removeLast() }
        guard let text = String(validating: word, as: UTF8.self) else { throw ParsingError("\(line): a reference is not text") }
        do throws(ParsingError) {
            guard let name = try ItemReference.name(in: text) else { return nil }
            return (name, end + closing.count)
        } catch {
            throw ParsingError("\(line): \(error.why)")
        }
    }

    /// Returns the template with the references replaced by their secrets.
    ///
    /// - Throws: `Refusal` with `dataTooLarge` if it has more than `bytesMax` bytes.
    static func filled(
        _ template: borrowing SecretBytes, parts: [Part], secrets: [String: SecretBox], bytesMax: Int
    ) throws(Refusal) -> SecretBytes {
        var count = 0
        for part in parts {
            switch part {
            case .text(let range): count += range.count
            case .item(let name): count += secrets[name]?.secret.count ?? 0
            }
            guard count <= bytesMax else { throw Refusal(.dataTooLarge, "The filled template is larger than \(bytesMax >> 20) MiB") }
        }
        return template.withUnsafeBytes { source in
            SecretBytes(count: count) { target in
                var position = 0
                for part in parts {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: target[position...])
                    switch part {
                    case .text(let range):
                        rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
                        position += range.count
                    case .item(let name):
                        guard let box = secrets[name] else { continue }
                        box.secret.withUnsafeBytes { rest.copyMemory(from: $0) }
                        position += box.secret.count
                    }
                }
            }
        }
    }
}
