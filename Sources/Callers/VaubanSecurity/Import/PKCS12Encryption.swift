// The encryption of a file's parts: PBES2 (RFC 8018), which current tools write, and the PKCS #12 schemes (RFC 7292, appendix C), which
// OpenSSL wrote before version 3 and Keychain Access still writes.

internal import Crypto
internal import CryptoExtras
internal import SwiftASN1
internal import VaubanSecretBytes

struct PKCS12Encryption {
    private enum Cipher {
        case aes(keyBytes: Int)
        case tripleDES
        case rc2(bits: Int)

        var keyBytes: Int {
            switch self {
            case .aes(let count): count
            case .tripleDES: 24
            case .rc2(let bits): bits / 8
            }
        }
    }

    private let cipher: Cipher
    private let digest: PKCS12Digest
    private let salt: ArraySlice<UInt8>
    private let rounds: Int
    /// The initialization vector; nil if it is derived together with the key, as in PKCS #12.
    private let vector: ArraySlice<UInt8>?

    private static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 13]
    private static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 12]
    private static let modernCiphers: [ASN1ObjectIdentifier: Cipher] = [
        [2, 16, 840, 1, 101, 3, 4, 1, 2]: .aes(keyBytes: 16), [2, 16, 840, 1, 101, 3, 4, 1, 22]: .aes(keyBytes: 24),
        [2, 16, 840, 1, 101, 3, 4, 1, 42]: .aes(keyBytes: 32), [1, 2, 840, 113549, 3, 7]: .tripleDES,
    ]
    private static let ownCiphers: [ASN1ObjectIdentifier: Cipher] = [
        [1, 2, 840, 113549, 1, 12, 1, 3]: .tripleDES, [1, 2, 840, 113549, 1, 12, 1, 5]: .rc2(bits: 128),
        [1, 2, 840, 113549, 1, 12, 1, 6]: .rc2(bits: 40),
    ]

    private static let unsupported = StatusError(errSecUnsupportedFormat, "the file uses an unsupported encryption")

    init(_ algorithm: ASN1Node) throws {
        let (name, parameters) = try Self.identifier(algorithm)
        guard name == Self.pbes2 else {
            guard let own = Self.ownCiphers[name] else { throw Self.unsupported }
            var fields = try PKCS12File.children(of: parameters)
            guard let salt = fields.next(), let rounds = fields.next() else { throw PKCS12File.malformed }
            (cipher, digest, vector) = (own, .sha1, nil)
            (self.salt, self.rounds) = (try ASN1OctetString(derEncoded: salt).bytes, try Int(derEncoded: rounds))
            return
        }
        var schemes = try PKCS12File.children(of: parameters)
        guard let derivation = schemes.next(), let encryption = schemes.next() else { throw PKCS12File.malformed }
        let (derivationName, derived) = try Self.identifier(derivation)
        let (cipherName, vector) = try Self.identifier(encryption)
        guard derivationName == Self.pbkdf2, let cipher = Self.modernCiphers[cipherName] else { throw Self.unsupported }
        var fields = try PKCS12File.children(of: derived)
        guard let salt = fields.next(), let rounds = fields.next() else { throw PKCS12File.malformed }
        var next = fields.next()
        if let length = next, length.identifier == .integer {
            guard try Int(derEncoded: length) == cipher.keyBytes else { throw PKCS12File.malformed }
            next = fields.next()
        }
        digest = try next.map { try PKCS12Digest(Self.identifier($0).name, \.hmacID) } ?? .sha1
        (self.cipher, self.vector) = (cipher, try ASN1OctetString(derEncoded: vector).bytes)
        (self.salt, self.rounds) = (try ASN1OctetString(derEncoded: salt).bytes, try Int(derEncoded: rounds))
    }

    private static func identifier(_ node: ASN1Node) throws -> (name: ASN1ObjectIdentifier, parameters: ASN1Node) {
        var fields = try PKCS12File.children(of: node)
        guard let name = fields.next(), let parameters = fields.next() else { throw PKCS12File.malformed }
        return (try ASN1ObjectIdentifier(derEncoded: name), parameters)
    }

    func decrypt(_ bytes: ArraySlice<UInt8>, passphrase: PKCS12Passphrase, budget: inout PKCS12Budget) throws -> SecretBytes {
        try budget.take(rounds)
        let key: SymmetricKey
        let start: [UInt8]
        if let vector {
            key = try digest.pbkdf2(passphrase, salt: salt, rounds: rounds, byteCount: cipher.keyBytes)
            start = Array(vector)
        } else {
            try budget.take(rounds)
            key = digest.derived(.key, passphrase, salt: salt, rounds: rounds, byteCount: cipher.keyBytes)
            start = digest.derived(.vector, passphrase, salt: salt, rounds: rounds, byteCount: 8).withUnsafeBytes { Array($0) }
        }
        do {
            var clear =
                switch cipher {
                case .aes: try AES._CBC.decrypt(bytes, using: key, iv: AES._CBC.IV(ivBytes: start))
                case .tripleDES: try key.withUnsafeBytes { try TripleDES(key: $0).decrypt(bytes, vector: start) }
                case .rc2(let bits): try key.withUnsafeBytes { try RC2(key: $0, effectiveBits: bits).decrypt(bytes, vector: start) }
                }
            return SecretBytes(absorbing: &clear)
        } catch {
            // The MAC was correct, so the passphrase is.
            throw PKCS12File.malformed
        }
    }
}
