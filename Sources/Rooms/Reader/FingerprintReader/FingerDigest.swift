internal import Crypto

/// The digest of a user's fingers in a verdict; Specs/reader.md has an example.
package enum FingerDigest {
    package static let none = [UInt8](repeating: 0, count: 32)

    /// Returns the SHA-256 of a label, a zero byte, the user's mark, the sensor's name and the names of the fingers in byte order, each
    /// name followed by a zero byte; zero bytes if there is no finger. See Specs/reader.md.
    package static func of(_ fingers: [String], on sensor: String, mark: [UInt8]) -> [UInt8] {
        guard !fingers.isEmpty else { return none }
        var covered = Array("vauban fingers v1".utf8) + [0] + mark
        for name in [sensor] + Set(fingers).sorted(by: { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }) {
            covered += Array(name.utf8) + [0]
        }
        return Array(SHA256.hash(data: covered))
    }
}
