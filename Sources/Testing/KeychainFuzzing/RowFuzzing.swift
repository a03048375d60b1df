internal import Crypto
internal import EnclaveWire
internal import FuzzFinding
internal import Keychain
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanSecretBytes

/// A fuzzer of untrusted rows, below the encryption: the input contains the plaintext of the metadata half, as an attacker with the
/// metadata key could write it.
///
/// The first byte defines the row's columns: bit 0 for those of its binding instead of zeros; bit 1 for the same binding in both halves.
/// The metadata half's binding and the secret half's follow, each with its length as two bytes; the rest is the plaintext with its padding,
/// which is also used as a list of blinds and as a value.
package enum RowFuzzing {
    private static let user: UInt32 = 1000

    /// Returns how far the input got: 1 for matching bindings, 2 for an item.
    @discardableResult package static func run(_ input: [UInt8]) throws -> Int {
        guard let mode = input.first else { return 0 }
        var rest = input.dropFirst()
        let metadataBinding = piece(&rest)
        let secretBinding = mode & 2 == 0 ? piece(&rest) : metadataBinding
        let plaintext = Array(rest)
        try lists(plaintext)
        try values(plaintext)
        let columns = mode & 1 == 0 ? nil : try? RowBinding(derBytes: metadataBinding)
        let row = StoredRow(
            item: columns?.item ?? [UInt8](repeating: 0, count: 16), kind: columns?.kind ?? 0, protection: columns?.protection.number ?? 0,
            generation: columns?.generation ?? [UInt8](repeating: 0, count: 8),
            blinds: RowBlinds(primary: [], list: plaintext, lookups: [], device: nil),
            halves: RowHalves(secretBinding: secretBinding, wrappedKey: [], secret: [], metadataBinding: metadataBinding, metadata: []))
        guard let bindings = RowBindings(row, of: user) else { return 0 }
        try fits(bindings, row)
        guard let end = plaintext.withUnsafeBytes({ Padding.end(of: $0) }), let found = bindings.record(of: Array(plaintext.prefix(end)))
        else { return 1 }
        try require(found.digest.count == 32, "a digest of \(found.digest.count) bytes")
        try require(found.record.kind.rawValue == row.kind, "an item of a kind other than its row's")
        try require(
            found.record.attributes[.accessGroup] == .text(bindings.metadata.accessGroup), "an item of a group other than its row's")
        try require(found.record.protection == bindings.metadata.protection, "an item of a class other than its row's")
        try indexes(found.record)
        return 2
    }

    private static func piece(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        guard rest.count >= 2 else { return [] }
        let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        rest = rest.dropFirst(2)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static func fits(_ bindings: RowBindings, _ row: StoredRow) throws {
        for binding in [bindings.secret, bindings.metadata] {
            try require(binding.user == user, "a row of another user is accepted")
            try require(binding.item == row.item && binding.kind == row.kind, "a half of another item is accepted")
            try require(binding.protection.number == row.protection, "a half of another class is accepted")
        }
        try require(bindings.metadata.generation == row.generation, "a half of another generation is accepted")
        try require(bindings.secret.accessControl == bindings.metadata.accessControl, "halves with two access controls are accepted")
        try require(bindings.secret.accessGroup == bindings.metadata.accessGroup, "halves of two groups are accepted")
        try require(bindings.secret.format == bindings.metadata.format, "halves of two formats are accepted")
        try require(bindings.item.generation == row.generation, "the key is requested with another generation")
    }

    /// Verifies that indexes are limited and ordered for any attributes.
    private static func indexes(_ record: ItemRecord) throws {
        let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
        let blinds = RowBindings.blinds(of: record, under: key)
        try require(blinds.primary.count == 16 && blinds.lookups.allSatisfy { $0.count == 16 }, "a blind of another length")
        try require(blinds.list.count % BlindList.entryBytes == 0, "a list of broken blinds")
        let isFound = blinds.list.withUnsafeBytes { BlindList.contains($0, blinds.list) }
        try require(isFound, "a row does not pass its own filter")
    }

    private static func lists(_ bytes: [UInt8]) throws {
        let half = Array(bytes.prefix(bytes.count / 2))
        _ = bytes.withUnsafeBytes { BlindList.contains($0, half) }
        let isWhole = bytes.count % BlindList.entryBytes == 0
        try require(bytes.withUnsafeBytes { BlindList.contains($0, []) } == isWhole, "a list of a wrong length is accepted")
    }

    private static func values(_ bytes: [UInt8]) throws {
        if let end = bytes.withUnsafeBytes({ Padding.end(of: $0) }) {
            try require(Padding.pad(Array(bytes.prefix(end))) == bytes, "a padding has two forms")
        }
        guard let value = PaddedValue(decrypted: SecretBytes(copying: bytes)) else { return }
        let again = PaddedValue(hasValue: value.hasValue, value.value())
        try require(again.bytes.withUnsafeBytes { Array($0) } == bytes, "a padded value has two forms")
    }
}
