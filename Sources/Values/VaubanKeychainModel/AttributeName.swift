/// An attribute by its four-letter code, the raw value of `kSecAttr…` (secitem 1.2).
package struct AttributeName: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package static let accessGroup = Self(rawValue: "agrp")
    package static let account = Self(rawValue: "acct")
    package static let alias = Self(rawValue: "alis")
    package static let authenticationType = Self(rawValue: "atyp")
    package static let comment = Self(rawValue: "icmt")
    package static let creationDate = Self(rawValue: "cdat")
    package static let creator = Self(rawValue: "crtr")
    package static let description = Self(rawValue: "desc")
    package static let generic = Self(rawValue: "gena")
    package static let isInvisible = Self(rawValue: "invi")
    package static let isNegative = Self(rawValue: "nega")
    package static let label = Self(rawValue: "labl")
    package static let modificationDate = Self(rawValue: "mdat")
    package static let path = Self(rawValue: "path")
    package static let port = Self(rawValue: "port")
    package static let protocolName = Self(rawValue: "ptcl")
    package static let securityDomain = Self(rawValue: "sdmn")
    package static let server = Self(rawValue: "srvr")
    package static let service = Self(rawValue: "svce")
    package static let synchronizable = Self(rawValue: "sync")
    package static let type = Self(rawValue: "type")
}
