// The key agreement of a session: Diffie-Hellman in the second Oakley group (RFC 2409, section 6.2), and HKDF (RFC 5869).

internal import CVaubanGroup
internal import Crypto
internal import VaubanLinuxHost
internal import VaubanSecretBytes

enum KeyAgreement {
    static let groupBytes = 128
    private static let keyBytes = 16

    private static let prime: [UInt8] = bytes(
        """
        ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
        4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff
        """)

    /// Initializes the library before the process confines itself.
    static func prepare() throws(SystemError) {
        guard vauban_group_prepare() == 0 else { throw SystemError("use libgcrypt", code: 0) }
    }

    /// One side of an agreement: its exponent, and the public key that the other side needs.
    struct Side: ~Copyable {
        private let exponent: SecretBytes
        let publicKey: [UInt8]

        init() throws {
            let exponent = try Entropy.secret(groupBytes)
            publicKey = try power(padded([2]) ?? [], exponent).withUnsafeBytes { [UInt8]($0) }
            self.exponent = exponent
        }

        /// Returns the shared key, or nil if the other side's public key is degenerate or too long.
        func key(with theirs: [UInt8]) throws -> SymmetricKey? {
            guard let theirs = padded(theirs), isUsable(theirs) else { return nil }
            let shared = try power(theirs, exponent)
            // The specification derives the key from the shared number with its leading zeros.
            return HKDF<SHA256>.deriveKey(
                inputKeyMaterial: shared.withUnsafeBytes { SymmetricKey(data: $0) }, outputByteCount: keyBytes)
        }
    }

    /// Processes a client's public key, and returns this side's public key and the shared key. Returns nil if the client's key is
    /// degenerate or too long.
    static func answer(_ theirs: [UInt8]) throws -> (publicKey: [UInt8], key: SymmetricKey)? {
        guard let number = padded(theirs), isUsable(number) else { return nil }
        let side = try Side()
        guard let key = try side.key(with: number) else { return nil }
        return (side.publicKey, key)
    }

    /// Whether a public key is usable. 0, 1 and the prime minus 1 lead to predictable shared numbers, and larger numbers are not in the
    /// group.
    private static func isUsable(_ number: [UInt8]) -> Bool {
        var last = prime
        last[groupBytes - 1] -= 1
        guard number.lexicographicallyPrecedes(last) else { return false }
        return number.dropLast().contains { $0 != 0 } || number[groupBytes - 1] > 1
    }

    private static func padded(_ number: [UInt8]) -> [UInt8]? {
        let significant = number.drop { $0 == 0 }
        guard significant.count <= groupBytes else { return nil }
        return [UInt8](repeating: 0, count: groupBytes - significant.count) + significant
    }

    private static func power(_ base: [UInt8], _ exponent: borrowing SecretBytes) throws(SystemError) -> SecretBytes {
        try SecretBytes(count: groupBytes) { (target) throws(SystemError) in
            let result = exponent.withUnsafeBytes { exponent in
                vauban_group_power(
                    base, exponent.bindMemory(to: UInt8.self).baseAddress, prime, groupBytes,
                    target.bindMemory(to: UInt8.self).baseAddress)
            }
            guard result == 0 else { throw SystemError("agree on a key", code: 0) }
        }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { start in
            String(validating: digits[start..<start + 2], as: UTF8.self).flatMap { UInt8($0, radix: 16) }
        }
    }
}
