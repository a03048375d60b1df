internal import Crypto
internal import SwiftASN1
internal import VaubanKeychainModel

/// An X.509 certificate: Apple's `SecCertificate`. Two are equal when their bytes are.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecCertificate: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 257
    let der: [UInt8]
    let fields: CertificateFields
    /// The contents of the names, normalized, without their outer SEQUENCE.
    let normalizedIssuer: [UInt8]
    let normalizedSubject: [UInt8]

    /// Nil where the bytes are not one certificate.
    init?(der: [UInt8]) {
        guard let fields = CertificateFields(der: der), let issuer = NormalizedName(sequence: fields.issuer),
            let subject = NormalizedName(sequence: fields.subject)
        else { return nil }
        self.der = der
        self.fields = fields
        normalizedIssuer = issuer.content
        normalizedSubject = subject.content
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? SecCertificate)?.der == der }
    public override var hash: Int { der.hashValue }
    public override var description: String { "<SecCertificate: \(summary)>" }

    /// The common name, else the organization or its unit, else whatever names the subject first.
    var summary: String {
        commonName ?? value(of: [2, 5, 4, 10]) ?? value(of: [2, 5, 4, 11]) ?? fields.subjectValues.first?.text ?? emailAddresses.first ?? ""
    }

    var commonName: String? { value(of: [2, 5, 4, 3]) }

    private func value(of type: ASN1ObjectIdentifier) -> String? { fields.subjectValues.last { $0.type == type }?.text }

    /// Those of the subject's alternative names, and of the subject itself (PKCS #9 emailAddress).
    var emailAddresses: [String] {
        guard let address = value(of: [1, 2, 840, 113549, 1, 9, 1]), !fields.emailAddresses.contains(address) else {
            return fields.emailAddresses
        }
        return fields.emailAddresses + [address]
    }

    /// SHA-1 of the public key's bits, by which a certificate finds its key.
    var publicKeyHash: [UInt8] { Array(Insecure.SHA1.hash(data: fields.publicKey)) }

    /// What a certificate's row has (Specs/item-attributes.md).
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

/// The class number: Apple's `SecCertificateGetTypeID`.
public func SecCertificateGetTypeID() -> CFTypeID { SecCertificate.typeID }

/// Reads a DER certificate: Apple's `SecCertificateCreateWithData`. Nil where it is none.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(der: [UInt8](data as Data))
}

/// The certificate's DER bytes: Apple's `SecCertificateCopyData`.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData(data: Data(certificate.der)) }

/// A name for people: Apple's `SecCertificateCopySubjectSummary`.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.summary.isEmpty ? nil : NSString(string: certificate.summary)
}

/// The subject's common name: Apple's `SecCertificateCopyCommonName`.
public func SecCertificateCopyCommonName(_ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>) -> OSStatus {
    commonName.pointee = certificate.commonName.map { NSString(string: $0) }
    return certificate.commonName == nil ? errSecParam : errSecSuccess
}

/// The e-mail addresses that the certificate names: Apple's `SecCertificateCopyEmailAddresses`.
public func SecCertificateCopyEmailAddresses(_ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    emailAddresses.pointee = NSArray(array: certificate.emailAddresses.map { NSString(string: $0) })
    return errSecSuccess
}

/// The issuer's name, normalized, as a DER sequence: Apple's `SecCertificateCopyNormalizedIssuerSequence`.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(NormalizedName.sequence(certificate.normalizedIssuer)))
}

/// The subject's name, normalized, as a DER sequence: Apple's `SecCertificateCopyNormalizedSubjectSequence`.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    NSData(data: Data(NormalizedName.sequence(certificate.normalizedSubject)))
}

/// The serial number's bytes: Apple's `SecCertificateCopySerialNumberData`. It cannot fail here.
public func SecCertificateCopySerialNumberData(_ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> CFData?
{
    NSData(data: Data(certificate.fields.serialNumber))
}

/// When the certificate begins to be valid: Apple's `SecCertificateCopyNotValidBeforeDate`.
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.fields.notBefore as CFDate
}

/// When the certificate ceases to be valid: Apple's `SecCertificateCopyNotValidAfterDate`.
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.fields.notAfter as CFDate
}

/// The public key: Apple's `SecCertificateCopyKey`. Nil where it is neither RSA of 1024 bits and more nor over P-256, P-384 or P-521.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { certificate.key }
