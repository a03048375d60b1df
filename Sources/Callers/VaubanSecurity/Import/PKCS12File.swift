// A strict parser of PKCS #12 files (RFC 7292): DER, authenticated with a passphrase, limited in size and work. No available library reads
// them: swift-crypto provides the primitives, and swift-certificates the certificates.

internal import Glibc
internal import SwiftASN1
internal import VaubanSecretBytes

/// The keys and certificates of a file.
struct PKCS12File {
    struct Entry<Content> {
        let content: Content
        let name: String?
    }

    private(set) var keys: [Entry<KeyMaterial>] = []
    private(set) var certificates: [Entry<SecCertificate>] = []
    /// Whether the file has a key of an unsupported type.
    private(set) var hasUnknownKey = false

    /// A file holds a few keys and certificates; anything larger is refused.
    static let bytesMax = 1 << 20
    private static let bagsMax = 256

    private let passphrase: PKCS12Passphrase
    private var budget = PKCS12Budget()

    init(_ der: [UInt8], passphrase given: String) throws {
        guard der.count <= Self.bytesMax else { throw Self.malformed }
        passphrase = PKCS12Passphrase(given)
        var outer = try Self.children(of: DER.parse(der))
        guard let version = outer.next(), try Int(derEncoded: version) == 3, let info = outer.next() else { throw Self.malformed }
        guard let seal = outer.next(), outer.next() == nil else {
            throw StatusError(errSecPkcs12VerifyFailure, "the file has no MAC with which to verify its passphrase")
        }
        guard case .data(let sealed) = try Self.content(of: info) else { throw Self.malformed }
        try PKCS12Seal(seal).check(sealed, passphrase: passphrase, budget: &budget)
        for part in IteratorSequence(try Self.children(of: DER.parse(sealed))) {
            switch try Self.content(of: part) {
            case .data(let bags): try read(bags: Array(bags))
            case .encrypted(let algorithm, let bytes):
                let clear = try PKCS12Encryption(algorithm).decrypt(bytes, passphrase: passphrase, budget: &budget)
                try Self.withArray(clear) { try read(bags: $0) }
            }
        }
    }

    static let malformed = StatusError(errSecDecode, "the file is not a PKCS #12 file, or is damaged")

    private enum Content {
        case data(ArraySlice<UInt8>)
        case encrypted(ASN1Node, ArraySlice<UInt8>)
    }

    private static let dataID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    private static let encryptedDataID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]

    private static func content(of info: ASN1Node) throws -> Content {
        var fields = try children(of: info)
        guard let kind = fields.next(), let tagged = fields.next(), fields.next() == nil else { throw malformed }
        let inner = try only(in: tagged)
        switch try ASN1ObjectIdentifier(derEncoded: kind) {
        case dataID: return .data(try ASN1OctetString(derEncoded: inner).bytes)
        case encryptedDataID:
            var encrypted = try children(of: inner)
            guard encrypted.next()?.identifier == .integer, let content = encrypted.next() else { throw malformed }
            var parts = try children(of: content)
            guard let of = parts.next(), try ASN1ObjectIdentifier(derEncoded: of) == dataID, let algorithm = parts.next(),
                let bytes = parts.next(),
                case .primitive(let encryptedBytes) = bytes.content
            else { throw malformed }
            return .encrypted(algorithm, encryptedBytes)
        default: throw StatusError(errSecUnsupportedFormat, "the file is encrypted with a key, not with a passphrase")
        }
    }

    private static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 1]
    private static let encryptedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 2]
    private static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 3]
    private static let certificateID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 22, 1]
    private static let friendlyName: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 20]

    /// Ignores bags of other kinds, such as revocation lists.
    private mutating func read(bags: [UInt8]) throws {
        for bag in IteratorSequence(try Self.children(of: DER.parse(bags))) {
            guard keys.count + certificates.count < Self.bagsMax else { throw Self.malformed }
            var fields = try Self.children(of: bag)
            guard let kind = fields.next(), let tagged = fields.next() else { throw Self.malformed }
            let value = try Self.only(in: tagged)
            let name = try fields.next().flatMap(Self.name)
            switch try ASN1ObjectIdentifier(derEncoded: kind) {
            case Self.keyBag: add(try KeyMaterial(privateKeyInfo: value), name)
            case Self.encryptedKeyBag:
                var parts = try Self.children(of: value)
                guard let algorithm = parts.next(), let bytes = parts.next() else { throw Self.malformed }
                let clear = try PKCS12Encryption(algorithm).decrypt(
                    ASN1OctetString(derEncoded: bytes).bytes, passphrase: passphrase, budget: &budget)
                add(try Self.withArray(clear) { try KeyMaterial(privateKeyInfo: DER.parse($0)) }, name)
            case Self.certificateBag:
                var parts = try Self.children(of: value)
                guard let form = parts.next(), let content = parts.next() else { throw Self.malformed }
                guard try ASN1ObjectIdentifier(derEncoded: form) == Self.certificateID else { continue }
                let der = try ASN1OctetString(derEncoded: Self.only(in: content)).bytes
                guard let certificate = SecCertificate(der: Array(der)) else { throw Self.malformed }
                certificates.append(Entry(content: certificate, name: name))
            default: continue
            }
        }
    }

    private mutating func add(_ key: KeyMaterial?, _ name: String?) {
        if let key { keys.append(Entry(content: key, name: name)) } else { hasUnknownKey = true }
    }

    private static func name(in attributes: ASN1Node) throws -> String? {
        for attribute in IteratorSequence(try children(of: attributes)) {
            var fields = try children(of: attribute)
            guard let kind = fields.next(), try ASN1ObjectIdentifier(derEncoded: kind) == friendlyName, let set = fields.next() else {
                continue
            }
            var values = try children(of: set)
            if let value = values.next(), case .primitive(let bytes) = value.content {
                return String(bytes: bytes, encoding: .utf16BigEndian)
            }
        }
        return nil
    }

    static func children(of node: ASN1Node) throws -> ASN1NodeCollection.Iterator {
        guard case .constructed(let children) = node.content else { throw malformed }
        return children.makeIterator()
    }

    private static func only(in node: ASN1Node) throws -> ASN1Node {
        var inner = try children(of: node)
        guard let first = inner.next(), inner.next() == nil else { throw malformed }
        return first
    }

    /// Calls `body` with an array, which the DER parser requires and which is overwritten afterwards. The result of `body` must not share
    /// its memory.
    private static func withArray<Value>(_ secret: borrowing SecretBytes, _ body: ([UInt8]) throws -> Value) throws -> Value {
        var bytes = secret.withUnsafeBytes { Array($0) }
        defer { bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } } }
        return try body(bytes)
    }
}
