import EnclaveWire
import Foundation
import VaubanAccessPolicy
import VaubanDER

/// A database that an earlier version wrote, with the keys of its enclave: Vectors/keychain-database.
struct StoredDatabase {
    let file: URL
    private(set) var keys: [(name: KeyLease.Key, bytes: [UInt8])] = []
    private(set) var sealed: [[UInt8]: (row: RowBinding, key: [UInt8])] = [:]

    struct Malformed: Error {}

    init(_ name: String, source: String = #filePath) throws {
        let root = URL(fileURLWithPath: source).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let folder = root.appendingPathComponent("Vectors/keychain-database")
        file = folder.appendingPathComponent("\(name).db")
        for line in try String(contentsOf: folder.appendingPathComponent("\(name).keys"), encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("key", 4):
                keys.append(
                    (KeyLease.Key(purpose: try Self.purpose(words[1]), generation: try Self.bytes(words[2])), try Self.bytes(words[3])))
            case ("sealed", 4):
                sealed[try Self.bytes(words[1])] = (try RowBinding(derBytes: Self.bytes(words[2])), try Self.bytes(words[3]))
            case ("#", _): continue
            default: throw Malformed()
            }
        }
    }

    private static func purpose(_ word: String) throws -> KeyLease.Purpose {
        switch Int64(word) {
        case 100: return .firstUnlockIndex
        case 101: return .deviceIndex
        case let number:
            guard let number, let protection = ProtectionClass(number: number) else { throw Malformed() }
            return .metadata(protection)
        }
    }

    private static func bytes(_ word: String) throws -> [UInt8] {
        let digits = Array(word)
        guard digits.count % 2 == 0 else { throw Malformed() }
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { throw Malformed() }
            return byte
        }
    }
}
