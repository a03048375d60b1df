import Crypto
import Glibc
import VaubanSecretBytes

/// Digests of secrets, to find equal ones. They use a random key that exists only here, so they reveal nothing about the secrets, and are
/// erased with this object.
final class SecretDigests {
    private static let bytes = 32
    private let key = SymmetricKey(size: .bits256)
    private let countMax: Int
    private var digests: SecretBytes
    private(set) var count = 0

    /// Reserves space for this many digests.
    init(countMax: Int) {
        self.countMax = countMax
        digests = SecretBytes(count: countMax * Self.bytes) { _ in }
    }

    /// Adds the digest of a secret; returns false if there is no space left.
    func add(_ secret: borrowing SecretBytes) -> Bool {
        guard count < countMax else { return false }
        let place = count * Self.bytes
        secret.withUnsafeBytes { bytes in
            HMAC<SHA256>.authenticationCode(for: bytes, using: key).withUnsafeBytes { code in
                digests.withUnsafeMutableBytes {
                    UnsafeMutableRawBufferPointer(rebasing: $0[place..<place + Self.bytes]).copyMemory(from: code)
                }
            }
        }
        count += 1
        return true
    }

    /// Returns the numbers, in the order of adding, of the secrets that occur more than once, in groups of equal secrets.
    func groups() -> [[Int]] {
        digests.withUnsafeBytes { bytes in
            func order(_ one: Int, _ other: Int) -> Int32 {
                guard let base = bytes.baseAddress else { return 0 }
                return memcmp(base + one * Self.bytes, base + other * Self.bytes, Self.bytes)
            }
            let sorted = (0..<count).sorted { order($0, $1) < 0 }
            var groups: [[Int]] = []
            var start = 0
            for end in sorted.indices.map({ $0 + 1 }) where end == sorted.count || order(sorted[start], sorted[end]) != 0 {
                if end - start > 1 { groups.append(sorted[start..<end].sorted()) }
                start = end
            }
            return groups.sorted { $0[0] < $1[0] }
        }
    }
}
