internal import VaubanKeychainModel

/// An item as an object: `kSecValueRef`, and the result of `kSecReturnRef`.
enum ItemObject {
    case certificate(SecCertificate)
    case key(SecKey)
    case identity(SecIdentity)

    init?(_ object: AnyObject) {
        switch object {
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let key as SecKey: self = .key(key)
        case let identity as SecIdentity: self = .identity(identity)
        default: return nil
        }
    }

    var kind: ItemKind {
        switch self {
        case .certificate: .certificate
        case .key: .key
        case .identity: .identity
        }
    }

    var object: AnyObject {
        switch self {
        case .certificate(let certificate): certificate
        case .key(let key): key
        case .identity(let identity): identity
        }
    }

    /// The value to store; nil for an identity, which is two items.
    var value: Data? {
        switch self {
        case .certificate(let certificate): Data(certificate.der)
        case .key(let key): key.external
        case .identity: nil
        }
    }

    /// Returns the identifying attributes. Queries ignore a key's usage and permanence (Specs/secitem.md, 5).
    func attributes(forQuery: Bool) -> ItemAttributes {
        switch self {
        case .certificate(let certificate):
            var attributes = certificate.itemAttributes
            // The label may have been changed by the user.
            if forQuery { attributes[.label] = nil }
            return attributes
        case .key(let key):
            var attributes = key.attributes
            attributes[.creationDate] = nil
            attributes[.modificationDate] = nil
            if forQuery {
                for name in Self.capabilities { attributes[name] = nil }
                attributes[.accessGroup] = nil
                attributes[.accessControl] = nil
                // This is a property of the item in which the key was found, not of the key.
                attributes[.synchronizable] = nil
            }
            return attributes
        case .identity(let identity):
            var attributes = ItemAttributes()
            attributes[.issuer] = .data(identity.certificate.normalizedIssuer)
            attributes[.serialNumber] = identity.certificate.itemAttributes[.serialNumber]
            return attributes
        }
    }

    private static let capabilities: [AttributeName] = [
        .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap, .isPermanent,
    ]
}

/// The values that a call returns.
struct ItemReturns: OptionSet, Hashable {
    let rawValue: Int
    static let data = Self(rawValue: 1)
    static let attributes = Self(rawValue: 2)
    static let ref = Self(rawValue: 4)
    static let persistentRef = Self(rawValue: 8)
}
