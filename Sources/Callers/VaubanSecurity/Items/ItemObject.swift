internal import VaubanKeychainModel

/// An object that stands for an item: `kSecValueRef`, and what `kSecReturnRef` gives.
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

    /// What is stored of it; nil for an identity, which is two items.
    var value: Data? {
        switch self {
        case .certificate(let certificate): Data(certificate.der)
        case .key(let key): key.external
        case .identity: nil
        }
    }

    /// By what it is known. In a query what a key can do does not count, nor whether it is permanent (Specs/secitem.md, 5).
    func attributes(forQuery: Bool) -> ItemAttributes {
        switch self {
        case .certificate(let certificate):
            var attributes = certificate.itemAttributes
            // A label is a user's, and may have been changed.
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
                // Which of two items it was found in is not the key's to say.
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

/// What a call gives back.
struct ItemReturns: OptionSet, Hashable {
    let rawValue: Int
    static let data = Self(rawValue: 1)
    static let attributes = Self(rawValue: 2)
    static let ref = Self(rawValue: 4)
    static let persistentRef = Self(rawValue: 8)
}
