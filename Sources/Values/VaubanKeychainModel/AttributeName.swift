/// An attribute by its four-letter code, the raw value of `kSecAttr…`. It is kept as a number, since names are compared far more often than
/// they are read and written.
package struct AttributeName: RawRepresentable, Hashable, Comparable, Sendable {
    /// The four bytes of the code, most significant first, so that the order of the numbers is that of the codes.
    private let code: UInt32

    /// Creates a name; nil if the code is not four bytes of UTF-8.
    package init?(rawValue: String) {
        guard rawValue.utf8.count == 4 else { return nil }
        code = rawValue.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private init(_ code: StaticString) {
        self.code = code.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    package var rawValue: String { withUnsafeBytes(of: code.bigEndian) { String(decoding: $0, as: UTF8.self) } }

    // Written out, since a type with a raw value otherwise compares and hashes that: two strings for each comparison.
    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    package static func < (left: Self, right: Self) -> Bool { left.code < right.code }

    /// The DER of an enclave key's access control; set with the key, never by a caller.
    package static let accessControl = Self("accc")
    package static let accessGroup = Self("agrp")
    package static let account = Self("acct")
    package static let alias = Self("alis")
    package static let applicationLabel = Self("klbl")
    package static let applicationTag = Self("atag")
    package static let authenticationType = Self("atyp")
    package static let canDecrypt = Self("decr")
    package static let canDerive = Self("drve")
    package static let canEncrypt = Self("encr")
    package static let canSign = Self("sign")
    package static let canSignRecover = Self("snrc")
    package static let canUnwrap = Self("unwp")
    package static let canVerify = Self("vrfy")
    package static let canVerifyRecover = Self("vyrc")
    package static let canWrap = Self("wrap")
    package static let certificateEncoding = Self("cenc")
    package static let certificateType = Self("ctyp")
    package static let comment = Self("icmt")
    package static let creationDate = Self("cdat")
    package static let creator = Self("crtr")
    package static let description = Self("desc")
    package static let effectiveKeySize = Self("esiz")
    package static let endDate = Self("edat")
    package static let generic = Self("gena")
    package static let isExtractable = Self("extr")
    package static let isInvisible = Self("invi")
    package static let isModifiable = Self("modi")
    package static let isNegative = Self("nega")
    package static let isPermanent = Self("perm")
    package static let isPrivate = Self("priv")
    package static let isSensitive = Self("sens")
    package static let issuer = Self("issr")
    package static let keyClass = Self("kcls")
    package static let keySizeInBits = Self("bsiz")
    package static let label = Self("labl")
    package static let modificationDate = Self("mdat")
    package static let path = Self("path")
    package static let port = Self("port")
    package static let protocolName = Self("ptcl")
    package static let publicKeyHash = Self("pkhh")
    /// The DER of `SecretServiceAttributes`; not one of Apple's.
    package static let secretServiceAttributes = Self("ssat")
    package static let securityDomain = Self("sdmn")
    package static let serialNumber = Self("slnr")
    package static let server = Self("srvr")
    package static let service = Self("svce")
    package static let startDate = Self("sdat")
    package static let subject = Self("subj")
    package static let subjectKeyID = Self("skid")
    package static let synchronizable = Self("sync")
    package static let syncViewHint = Self("vwht")
    package static let tokenID = Self("tkid")
    package static let type = Self("type")
    package static let wasAlwaysSensitive = Self("asen")
    package static let wasNeverExtractable = Self("next")
}
