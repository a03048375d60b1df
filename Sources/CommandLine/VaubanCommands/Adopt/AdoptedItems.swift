import VaubanKeychainModel
import VaubanLinuxHost

/// One moved item: its identity in the old keychain, its modification date there, and its identity in the new keychain. Identities are
/// random, disclose nothing about the item, and are unique to one keychain: they do not occur in a keychain that was created again after an
/// erasure or a loss, nor in another machine's keychain with the same home.
package struct AdoptedItem: Hashable {
    let old: LegacyItem.Stamp
    let kind: ItemKind
    let new: [UInt8]

    /// The item's line in the list, without the newline.
    package var line: String { "\(kind.rawValue) \(Self.hex(old.identity)) \(old.changed) \(Self.hex(new))" }

    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

/// `HOME/adopted.items`: a line for each moved item, `KIND OLD DATE NEW` (Specs/service.md).
package enum AdoptedItems {
    private static let name = "adopted.items"
    private static let bytesMax = 256 << 20
    private static let version = "version 1"

    static func keep(_ items: some Sequence<AdoptedItem>, in folder: PrivateFolder) throws(SystemError) {
        try DurableFile(name, in: folder).replace(with: Array(text(of: items).utf8))
    }

    /// Returns the list, or nil if it is missing or damaged; then no item counts as moved.
    static func read(in folder: PrivateFolder) -> [AdoptedItem]? {
        guard case .bytes(let bytes)? = try? DurableFile(name, in: folder).read(max: bytesMax) else { return nil }
        return try? parse(bytes)
    }

    package static func text(of items: some Sequence<AdoptedItem>) -> String {
        "\(version)\n" + items.map { "\($0.line)\n" }.sorted().joined()
    }

    package static func parse(_ bytes: [UInt8]) throws(ParsingError) -> [AdoptedItem] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.first.map({ String(decoding: $0, as: UTF8.self) }) == version else { throw ParsingError("it has another version") }
        // The list may have been truncated if it does not end with a newline.
        guard lines.removeLast().isEmpty else { throw ParsingError("its last line has no end") }
        var items: [AdoptedItem] = []
        for (index, line) in lines.enumerated().dropFirst() {
            guard let item = AdoptedItem(line: line) else { throw ParsingError("its line \(index + 1) is not an item") }
            items.append(item)
        }
        return items
    }
}

extension AdoptedItem {
    fileprivate init?(line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4, let number = Int64(String(decoding: words[0], as: UTF8.self)), let kind = ItemKind(nameable: number),
            let identity = Self.identity(words[1]), let changed = Int64(String(decoding: words[2], as: UTF8.self)),
            let new = Self.identity(words[3])
        else { return nil }
        self.init(old: LegacyItem.Stamp(identity: identity, changed: changed), kind: kind, new: new)
        // Each number has exactly one form.
        guard line.elementsEqual(self.line.utf8) else { return nil }
    }

    /// Returns the 16 bytes of 32 hexadecimal digits.
    private static func identity(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let byte = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
