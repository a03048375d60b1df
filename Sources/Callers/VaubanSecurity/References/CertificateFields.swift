// The fields of an X.509 certificate (RFC 5280, 4.1) that become item attributes, parsed with swift-asn1's strict DER. Nothing is verified
// here. swift-certificates parses most certificates and evaluates them (Trust/), but rejects those whose key or signature it does not
// support, such as RSA below 2048 bits, DSA and RSASSA-PSS. The keychain stores, finds and describes these too.

internal import Glibc
internal import SwiftASN1

struct CertificateFields {
    let version: Int
    let serialNumber: [UInt8]
    /// The names as encoded in DER.
    let issuer: [UInt8]
    let subject: [UInt8]
    let subjectValues: [(type: ASN1ObjectIdentifier, text: String)]
    let notBefore: Date
    let notAfter: Date
    /// The contents of the public key's BIT STRING.
    let publicKey: [UInt8]
    /// The type of the key: an algorithm and, for a curve, its name.
    let keyAlgorithm: [ASN1ObjectIdentifier]
    let subjectKeyIdentifier: [UInt8]?
    /// The alternative names that are email addresses, and those that are DNS names.
    let emailAddresses: [String]
    let domainNames: [String]

    /// Returns nil unless the bytes are exactly one certificate.
    init?(der: [UInt8]) {
        do { try self.init(parsing: der) } catch { return nil }
    }

    private init(parsing der: [UInt8]) throws {
        var outer = try Self.children(of: DER.parse(der), .sequence)
        guard let toBeSigned = outer.next(), let algorithm = outer.next(), algorithm.identifier == .sequence, let signature = outer.next(),
            signature.identifier == .bitString, outer.next() == nil
        else { throw StatusError.notACertificate }
        var fields = try Self.children(of: toBeSigned, .sequence)
        var next = fields.next()
        let versionTag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        if let tagged = next, tagged.identifier == versionTag {
            var inner = try Self.children(of: tagged, versionTag)
            guard let number = inner.next() else { throw StatusError.notACertificate }
            // Checked before the addition: it may be any Int.
            let written = try Int(derEncoded: number)
            guard (0...2).contains(written) else { throw StatusError.notACertificate }
            version = written + 1
            next = fields.next()
        } else {
            version = 1
        }
        guard let serial = next, serial.identifier == .integer, case .primitive(let serialBytes) = serial.content,
            fields.next()?.identifier == .sequence, let issuer = fields.next(), let validity = fields.next(), let subject = fields.next(),
            let keyInfo = fields.next()
        else { throw StatusError.notACertificate }
        serialNumber = Array(serialBytes)
        self.issuer = Array(issuer.encodedBytes)
        self.subject = Array(subject.encodedBytes)
        subjectValues = try Self.values(of: subject)
        var times = try Self.children(of: validity, .sequence)
        notBefore = try Self.date(times.next())
        notAfter = try Self.date(times.next())
        var key = try Self.children(of: keyInfo, .sequence)
        guard let kind = key.next(), kind.identifier == .sequence, let bits = key.next() else { throw StatusError.notACertificate }
        keyAlgorithm = try IteratorSequence(Self.children(of: kind, .sequence)).compactMap { try? ASN1ObjectIdentifier(derEncoded: $0) }
        publicKey = Array(try ASN1BitString(derEncoded: bits).bytes)
        var extensions: [ASN1ObjectIdentifier: ArraySlice<UInt8>] = [:]
        let extensionsTag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
        while let node = fields.next() {
            guard node.identifier == extensionsTag else { continue }
            var list = try Self.children(of: node, extensionsTag)
            guard let sequence = list.next() else { throw StatusError.notACertificate }
            for entry in IteratorSequence(try Self.children(of: sequence, .sequence)) { try Self.read(entry, into: &extensions) }
        }
        subjectKeyIdentifier = try extensions[Self.subjectKeyIdentifierID].map {
            Array(try ASN1OctetString(derEncoded: DER.parse($0)).bytes)
        }
        emailAddresses = try extensions[Self.alternativeNameID].map { try Self.names(in: $0, tag: 1) } ?? []
        domainNames = try extensions[Self.alternativeNameID].map { try Self.names(in: $0, tag: 2) } ?? []
    }

    private static let subjectKeyIdentifierID: ASN1ObjectIdentifier = [2, 5, 29, 14]
    private static let alternativeNameID: ASN1ObjectIdentifier = [2, 5, 29, 17]

    private static func children(of node: ASN1Node, _ identifier: ASN1Identifier) throws -> ASN1NodeCollection.Iterator {
        guard node.identifier == identifier, case .constructed(let children) = node.content else { throw StatusError.notACertificate }
        return children.makeIterator()
    }

    private static func read(_ entry: ASN1Node, into extensions: inout [ASN1ObjectIdentifier: ArraySlice<UInt8>]) throws {
        var fields = try children(of: entry, .sequence)
        guard let name = fields.next(), var value = fields.next() else { throw StatusError.notACertificate }
        if value.identifier == .boolean { value = try fields.next() ?? { throw StatusError.notACertificate }() }
        extensions[try ASN1ObjectIdentifier(derEncoded: name)] = try ASN1OctetString(derEncoded: value).bytes
    }

    /// Returns the textual values of a name, in order.
    private static func values(of name: ASN1Node) throws -> [(type: ASN1ObjectIdentifier, text: String)] {
        var values: [(ASN1ObjectIdentifier, String)] = []
        for set in IteratorSequence(try children(of: name, .sequence)) {
            for pair in IteratorSequence(try children(of: set, .set)) {
                var fields = try children(of: pair, .sequence)
                guard let type = fields.next(), let value = fields.next() else { throw StatusError.notACertificate }
                guard case .primitive(let bytes) = value.content, let text = text(bytes, value.identifier) else { continue }
                values.append((try ASN1ObjectIdentifier(derEncoded: type), text))
            }
        }
        return values
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ identifier: ASN1Identifier) -> String? {
        switch identifier {
        case .utf8String, .printableString, .ia5String, .numericString, .visibleString: String(validating: bytes, as: UTF8.self)
        // Latin-1, as in the oldest certificates.
        case .teletexString: String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString: String(bytes: bytes, encoding: .utf16BigEndian)
        default: nil
        }
    }

    /// Returns the alternative names (RFC 5280, 4.2.1.6) of one form.
    private static func names(in alternativeNames: ArraySlice<UInt8>, tag: UInt) throws -> [String] {
        let form = ASN1Identifier(tagWithNumber: tag, tagClass: .contextSpecific)
        return IteratorSequence(try children(of: DER.parse(alternativeNames), .sequence)).compactMap { name in
            guard name.identifier == form, case .primitive(let bytes) = name.content else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }
    }

    private static func date(_ node: ASN1Node?) throws -> Date {
        guard let node else { throw StatusError.notACertificate }
        var parts = tm()
        if node.identifier == .utcTime {
            let time = try UTCTime(derEncoded: node)
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(time.year) - 1900, Int32(time.month) - 1, Int32(time.day))
            (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(time.hours), Int32(time.minutes), Int32(time.seconds))
        } else {
            let time = try GeneralizedTime(derEncoded: node)
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(time.year) - 1900, Int32(time.month) - 1, Int32(time.day))
            (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(time.hours), Int32(time.minutes), Int32(time.seconds))
        }
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}
