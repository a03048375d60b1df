// Derives keys from a passphrase: with PBKDF2 (RFC 8018) by swift-crypto, and with the derivation of PKCS #12 (RFC 7292, appendix B).

internal import Crypto
internal import CryptoExtras
internal import Glibc
internal import SwiftASN1
internal import VaubanSecretBytes

/// A passphrase in its two encodings.
final class PKCS12Passphrase: Sendable {
    let utf8: SecretBytes
    /// UTF-16, big-endian, with a terminating zero.
    let terminated: SecretBytes

    init(_ text: String) {
        let units = text.utf16
        utf8 = SecretBytes(count: text.utf8.count) { $0.copyBytes(from: text.utf8) }
        terminated = SecretBytes(count: units.count * 2 + 2) { target in
            for (place, unit) in units.enumerated() {
                target[place * 2] = UInt8(unit >> 8)
                target[place * 2 + 1] = UInt8(unit & 0xFF)
            }
        }
    }
}

/// The limit of derivation rounds for one file. OpenSSL writes 2,048, and the most cautious tools a million.
struct PKCS12Budget {
    private var rounds = 10_000_000

    mutating func take(_ wanted: Int) throws {
        guard wanted > 0, wanted <= rounds else {
            throw StatusError(errSecDecode, "the file requires too many rounds of key derivation")
        }
        rounds -= wanted
    }
}

/// The digests that a file may use.
enum PKCS12Digest: CaseIterable {
    case sha1, sha256, sha384, sha512

    init(_ identifier: ASN1ObjectIdentifier, _ names: KeyPath<PKCS12Digest, ASN1ObjectIdentifier>) throws {
        guard let found = Self.allCases.first(where: { $0[keyPath: names] == identifier }) else {
            throw StatusError(errSecUnsupportedFormat, "the file uses an unsupported hash function")
        }
        self = found
    }

    var digestID: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        }
    }

    var hmacID: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 2, 840, 113549, 2, 7]
        case .sha256: [1, 2, 840, 113549, 2, 9]
        case .sha384: [1, 2, 840, 113549, 2, 10]
        case .sha512: [1, 2, 840, 113549, 2, 11]
        }
    }

    private var forPBKDF2: KDF.Insecure.PBKDF2.HashFunction {
        switch self {
        case .sha1: .insecureSHA1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }

    func pbkdf2(_ passphrase: PKCS12Passphrase, salt: ArraySlice<UInt8>, rounds: Int, byteCount: Int) throws -> SymmetricKey {
        try passphrase.utf8.withUnsafeBytes { (bytes) throws(any Error) -> SymmetricKey in
            try KDF.Insecure.PBKDF2.deriveKey(
                from: bytes, salt: salt, using: forPBKDF2, outputByteCount: byteCount, unsafeUncheckedRounds: rounds)
        }
    }

    /// The purpose of derived bytes, with its number in RFC 7292.
    enum Purpose: UInt8 {
        case key = 1
        case vector = 2
        case seal = 3
    }

    func derived(_ purpose: Purpose, _ passphrase: PKCS12Passphrase, salt: ArraySlice<UInt8>, rounds: Int, byteCount: Int) -> SymmetricKey {
        switch self {
        case .sha1:
            Self.derived(Insecure.SHA1.self, purpose: purpose, passphrase: passphrase, salt: salt, rounds: rounds, byteCount: byteCount)
        case .sha256: Self.derived(SHA256.self, purpose: purpose, passphrase: passphrase, salt: salt, rounds: rounds, byteCount: byteCount)
        case .sha384: Self.derived(SHA384.self, purpose: purpose, passphrase: passphrase, salt: salt, rounds: rounds, byteCount: byteCount)
        case .sha512: Self.derived(SHA512.self, purpose: purpose, passphrase: passphrase, salt: salt, rounds: rounds, byteCount: byteCount)
        }
    }

    private static func derived<Hash: HashFunction>(
        _: Hash.Type, purpose: Purpose, passphrase: PKCS12Passphrase, salt: ArraySlice<UInt8>, rounds: Int, byteCount: Int
    ) -> SymmetricKey {
        let block = Hash.blockByteCount
        var input = passphrase.terminated.withUnsafeBytes {
            repeated(Array(salt), toMultipleOf: block) + repeated(Array($0), toMultipleOf: block)
        }
        var output: [UInt8] = []
        defer {
            erase(&input)
            erase(&output)
        }
        while output.count < byteCount {
            var digest = Array(Hash.hash(data: [UInt8](repeating: purpose.rawValue, count: block) + input))
            for _ in 1..<max(rounds, 1) { digest = Array(Hash.hash(data: digest)) }
            output += digest
            let addend = (0..<block).map { digest[$0 % digest.count] }
            for start in stride(from: 0, to: input.count, by: block) { add(addend, to: &input, at: start) }
        }
        return SymmetricKey(data: output.prefix(byteCount))
    }

    private static func repeated(_ bytes: [UInt8], toMultipleOf block: Int) -> [UInt8] {
        bytes.isEmpty ? [] : (0..<(bytes.count + block - 1) / block * block).map { bytes[$0 % bytes.count] }
    }

    /// Adds one number plus 1 to another of the block's length, discarding the overflow.
    private static func add(_ addend: [UInt8], to input: inout [UInt8], at start: Int) {
        var carry = 1
        for place in addend.indices.reversed() {
            carry += Int(input[start + place]) + Int(addend[place])
            input[start + place] = UInt8(carry & 0xFF)
            carry >>= 8
        }
    }

    private static func erase(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } }
    }
}

/// The MAC over a file's content (RFC 7292, 5.1): an HMAC whose key is derived from the passphrase.
struct PKCS12Seal {
    private let digest: PKCS12Digest
    private let value: ArraySlice<UInt8>
    private let salt: ArraySlice<UInt8>
    private let rounds: Int

    init(_ node: ASN1Node) throws {
        var fields = try PKCS12File.children(of: node)
        guard let info = fields.next(), let salt = fields.next() else { throw PKCS12File.malformed }
        var parts = try PKCS12File.children(of: info)
        guard let algorithm = parts.next(), let value = parts.next() else { throw PKCS12File.malformed }
        var names = try PKCS12File.children(of: algorithm)
        guard let name = names.next() else { throw PKCS12File.malformed }
        digest = try PKCS12Digest(ASN1ObjectIdentifier(derEncoded: name), \.digestID)
        self.value = try ASN1OctetString(derEncoded: value).bytes
        self.salt = try ASN1OctetString(derEncoded: salt).bytes
        rounds = try fields.next().map { try Int(derEncoded: $0) } ?? 1
    }

    /// Throws `errSecAuthFailed` for a wrong passphrase or altered content, which cannot be distinguished.
    func check(_ content: ArraySlice<UInt8>, passphrase: PKCS12Passphrase, budget: inout PKCS12Budget) throws {
        try budget.take(rounds)
        let isRight =
            switch digest {
            case .sha1: isRight(Insecure.SHA1.self, content, passphrase)
            case .sha256: isRight(SHA256.self, content, passphrase)
            case .sha384: isRight(SHA384.self, content, passphrase)
            case .sha512: isRight(SHA512.self, content, passphrase)
            }
        guard isRight else { throw StatusError(errSecAuthFailed, "the passphrase is wrong, or the file is damaged") }
    }

    private func isRight<Hash: HashFunction>(_: Hash.Type, _ content: ArraySlice<UInt8>, _ passphrase: PKCS12Passphrase) -> Bool {
        let key = digest.derived(.seal, passphrase, salt: salt, rounds: rounds, byteCount: Hash.Digest.byteCount)
        return HMAC<Hash>.isValidAuthenticationCode(value, authenticating: content, using: key)
    }
}
