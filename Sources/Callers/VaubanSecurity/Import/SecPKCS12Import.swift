// Import of identities from a file.

internal import Crypto
internal import SwiftASN1

/// Reads the identities of a PKCS #12 file: Apple's `SecPKCS12Import`. Stores nothing, as on iOS: add items with `SecItemAdd` and
/// `kSecValueRef`.
///
/// - Parameters:
///   - pkcs12_data: The file in DER, at most 1 MiB. It may be encrypted with AES, triple DES or RC2.
///   - options: `kSecImportExportPassphrase` with a string, which may be empty. Other keys are ignored.
///   - items: Receives an array with a dictionary for each identity: `kSecImportItemLabel`, `kSecImportItemKeyID` (SHA-1 of the public key,
///     20 bytes), `kSecImportItemTrust`, `kSecImportItemCertChain` and `kSecImportItemIdentity`.
/// - Returns: `errSecSuccess`; `errSecPassphraseRequired` without a passphrase, `errSecAuthFailed` for a wrong one,
///   `errSecPkcs12VerifyFailure` if the file has no MAC, `errSecDecode` if it is damaged or requires too much work,
///   `errSecUnsupportedFormat` for another encryption, and `errSecUnsupportedKeyFormat` if it has only keys of unsupported kinds.
@discardableResult
public func SecPKCS12Import(_ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    withReportedStatus {
        guard let passphrase = options[kSecImportExportPassphrase] as? String else {
            throw StatusError(
                errSecPassphraseRequired, "kSecImportExportPassphrase is missing; pass an empty string for a file without a passphrase")
        }
        let file: PKCS12File
        do {
            file = try PKCS12File([UInt8](pkcs12_data as Data), passphrase: passphrase)
        } catch is ASN1Error {
            throw PKCS12File.malformed
        }
        guard !file.keys.isEmpty || !file.hasUnknownKey else {
            throw StatusError(errSecUnsupportedKeyFormat, "the file's key is of an unsupported kind")
        }
        items.pointee = NSArray(array: file.keys.compactMap { key in file.identity(of: key) })
    }
}

extension PKCS12File {
    /// Returns nil if no certificate matches the key.
    fileprivate func identity(of key: Entry<KeyMaterial>) -> NSDictionary? {
        guard let own = certificates.first(where: { $0.content.fields.publicKey.elementsEqual(key.content.publicBytes) }) else {
            return nil
        }
        let others = certificates.map(\.content).filter { $0 != own.content }
        let trust = SecTrust(TrustInput(certificates: [own.content] + others, policies: [SecPolicyCreateBasicX509()]))
        let item = NSMutableDictionary()
        item[kSecImportItemLabel] = NSString(string: key.name ?? own.name ?? own.content.summary)
        item[kSecImportItemKeyID] = NSData(data: key.content.fingerprint)
        item[kSecImportItemTrust] = trust
        item[kSecImportItemCertChain] = NSArray(array: trust.outcome.chain)
        item[kSecImportItemIdentity] = SecIdentity(certificate: own.content, key: SecKey(key.content))
        return item
    }
}

extension KeyMaterial {
    private static let rsaID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    private static let curveID: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
    private static let curves: [ASN1ObjectIdentifier: @Sendable ([UInt8]) throws -> Data] = [
        [1, 2, 840, 10045, 3, 1, 7]: { try P256.Signing.PrivateKey(derRepresentation: $0).x963Representation },
        [1, 3, 132, 0, 34]: { try P384.Signing.PrivateKey(derRepresentation: $0).x963Representation },
        [1, 3, 132, 0, 35]: { try P521.Signing.PrivateKey(derRepresentation: $0).x963Representation },
    ]

    /// Reads a private key in PKCS #8 form (RFC 5208); nil for an unsupported kind.
    convenience init?(privateKeyInfo node: ASN1Node) throws {
        var fields = try PKCS12File.children(of: node)
        guard fields.next()?.identifier == .integer, let algorithm = fields.next(), let key = fields.next() else {
            throw PKCS12File.malformed
        }
        var kind = try PKCS12File.children(of: algorithm)
        guard let name = kind.next() else { throw PKCS12File.malformed }
        switch try ASN1ObjectIdentifier(derEncoded: name) {
        case Self.rsaID: try self.init(type: .rsa, isPrivate: true, external: Data(ASN1OctetString(derEncoded: key).bytes))
        case Self.curveID:
            guard let curve = kind.next(), let read = (try? ASN1ObjectIdentifier(derEncoded: curve)).flatMap({ Self.curves[$0] }) else {
                return nil
            }
            do {
                try self.init(type: .elliptic, isPrivate: true, external: read(Array(node.encodedBytes)))
            } catch is CryptoKitError {
                throw PKCS12File.malformed
            }
        default: return nil
        }
    }
}
