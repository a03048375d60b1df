internal import Crypto
internal import SwiftASN1
internal import VaubanKeychainModel

/// An X.509 certificate: Apple's `SecCertificate`. Certificates with equal bytes are equal.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecCertificate: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 257
    let der: [UInt8]
    let fields: CertificateFields
    /// The contents of the names, normalized, without the outer SEQUENCE.
    let normalizedIssuer: [UInt8]
    let normalizedSubject: [UInt8]

    /// Returns nil unless the bytes are exactly one certificate.
    init?(der: [UInt8]) {
        guard let fields = CertificateFields(der: der), let issuer = NormalizedName(sequence: fields.issuer),
            let subject = NormalizedName(sequence: fields.subject)
        else { return nil }
        self.der = der
        self.fields = fields
        normalizedIssuer = issuer.content
        normalizedSubject = subject.content
    }

    /// Returns whether the other object is a certificate with the same bytes.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecCertificate)?.der == der }
    /// A hash of the certificate's bytes.
    public override var hash: Int { der.hashValue }
    /// The subject's name, for logs.
    public override var description: String { "<SecCertificate: \(summary)>" }

    /// The common name with its description, else the first email address or DNS name, else the unit of the organization, the
    /// organization, or all values. Several values of one kind are joined, the last one first. Empty for an empty subject.
    var summary: String {
        func joined(_ values: [(type: ASN1ObjectIdentifier, text: String)]) -> String? {
            values.isEmpty ? nil : values.reversed().map { $0.text }.joined(separator: ", ")
        }
        func joined(of type: ASN1ObjectIdentifier) -> String? { joined(fields.subjectValues.filter { $0.type == type }) }
        if let name = joined(of: [2, 5, 4, 3]) { return joined(of: [2, 5, 4, 13]).map { "\(name) (\($0))" } ?? name }
        return emailAddresses.first ?? fields.domainNames.first ?? joined(of: [2, 5, 4, 11]) ?? joined(of: [2, 5, 4, 10])
            ?? joined(fields.subjectValues) ?? ""
    }

    var commonName: String? { value(of: [2, 5, 4, 3]) }

    private func value(of type: ASN1ObjectIdentifier) -> String? { fields.subjectValues.last { $0.type == type }?.text }

    /// The addresses among the alternative names and in the subject (PKCS #9 emailAddress).
    var emailAddresses: [String] {
        guard let address = value(of: [1, 2, 840, 113549, 1, 9, 1]), !fields.emailAddresses.contains(address) else {
            return fields.emailAddresses
        }
        return fields.emailAddresses + [address]
    }

    /// SHA-1 of the public key's bits, by which the keychain finds the matching private key; 20 bytes.
    var publicKeyHash: [UInt8] { Array(Insecure.SHA1.hash(data: fields.publicKey)) }

    /// The attributes of the certificate as an item (Specs/item-attributes.md).
    var itemAttributes: ItemAttributes {
        var attributes: [AttributeName: AttributeValue] = [
            .certificateType: .number(Int64(fields.version)), .certificateEncoding: .number(3), .issuer: .data(normalizedIssuer),
            .serialNumber: .data(fields.serialNumber), .subject: .data(normalizedSubject), .publicKeyHash: .data(publicKeyHash),
        ]
        if let identifier = fields.subjectKeyIdentifier { attributes[.subjectKeyID] = .data(identifier) }
        if !summary.isEmpty { attributes[.label] = .text(summary) }
        return ItemAttributes(attributes)
    }
}

/// Returns the type identifier of `SecCertificate`: Apple's `SecCertificateGetTypeID`.
public func SecCertificateGetTypeID() -> CFTypeID { SecCertificate.typeID }

/// Creates a certificate from DER bytes: Apple's `SecCertificateCreateWithData`. Nil for other bytes.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(der: [UInt8](data as Data))
}

/// Returns the certificate's DER bytes: Apple's `SecCertificateCopyData`.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData(data: Data(certificate.der)) }

/// Returns a name for display: Apple's `SecCertificateCopySubjectSummary`. It is the common name, with the description in parentheses
/// if there is one; or else the first email address, DNS name, unit of the organization, organization, or other values of the subject. Of
/// several values of one kind, the last one comes first. Nil if there is none of these.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.summary.isEmpty ? nil : NSString(string: certificate.summary)
}

/// Passes the subject's common name to `commonName`, the last one if there are several: Apple's `SecCertificateCopyCommonName`.
///
/// - Returns: `errSecSuccess`, or `errSecInternal` (-26276) if the subject has no common name; then `commonName` is unchanged.
@discardableResult
public func SecCertificateCopyCommonName(_ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>) -> OSStatus {
    guard let name = certificate.commonName else { return errSecInternal }
    commonName.pointee = NSString(string: name)
    return errSecSuccess
}

/// Passes the certificate's email addresses to `emailAddresses`, as an array of strings: Apple's `SecCertificateCopyEmailAddresses`. Always
/// returns `errSecSuccess`.
@discardableResult
public func SecCertificateCopyEmailAddresses(_ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    emailAddresses.pointee = NSArray(array: certificate.emailAddresses.map { NSString(string: $0) })
    return errSecSuccess
}

/// Returns the issuer's normalized name as a DER sequence: Apple's `SecCertificateCopyNormalizedIssuerSequence`.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(NormalizedName.sequence(certificate.normalizedIssuer)))
}

/// Returns the subject's normalized name as a DER sequence: Apple's `SecCertificateCopyNormalizedSubjectSequence`.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(NormalizedName.sequence(certificate.normalizedSubject)))
}

/// Returns the bytes of the serial number: Apple's `SecCertificateCopySerialNumberData`. Never fails.
public func SecCertificateCopySerialNumberData(_ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> CFData?
{
    NSData(data: Data(certificate.fields.serialNumber))
}

/// Returns the beginning of the certificate's validity: Apple's `SecCertificateCopyNotValidBeforeDate`.
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.fields.notBefore as CFDate
}

/// Returns the end of the certificate's validity: Apple's `SecCertificateCopyNotValidAfterDate`.
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.fields.notAfter as CFDate
}

/// Returns the public key: Apple's `SecCertificateCopyKey`. Nil unless it is RSA with at least 1024 bits or over P-256, P-384 or P-521.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { certificate.key }
