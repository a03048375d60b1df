// Making keys: at random, of bytes, and the public half of a private one.

internal import VaubanKeychainModel

/// Makes a private key: Apple's `SecKeyCreateRandomKey`. Stored where `kSecAttrIsPermanent` says so; if that fails there is no
/// key.
public func SecKeyCreateRandomKey(_ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> SecKey? {
    reporting(error) { try KeyMaking(parameters).pair().privateKey }
}

/// Makes a pair: Apple's `SecKeyGeneratePair`, the older form of `SecKeyCreateRandomKey`.
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?, _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    reporting {
        let pair = try KeyMaking(parameters).pair()
        publicKey?.pointee = pair.publicKey
        privateKey?.pointee = pair.privateKey
    }
}

/// Makes a key of its external form: Apple's `SecKeyCreateWithData`. X9.63 for curves, PKCS#1 for RSA; it is not stored.
public func SecKeyCreateWithData(_ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> SecKey?
{
    reporting(error) {
        let dictionary = KeyDictionary(attributes)
        if dictionary.namesToken {
            try dictionary.checkToken()
            return SecKey(try KeyMaterial(EnclaveKeyReference(checking: keyData as Data, try dictionary.keyContext())))
        }
        let type = try KeyMaking.type(dictionary)
        switch dictionary.text(kSecAttrKeyClass) {
        case "0": return SecKey(try KeyMaterial(type: type, isPrivate: false, external: keyData as Data))
        case "1": return SecKey(try KeyMaterial(type: type, isPrivate: true, external: keyData as Data))
        case "2": throw KeyFault(errSecUnimplemented, "symmetric keys are kept as items and not as SecKey")
        default: throw KeyFault(errSecParam, "kSecAttrKeyClass says neither public nor private")
        }
    }
}

/// The public half: Apple's `SecKeyCopyPublicKey`. Nil where the bytes of the key are not understood.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { key.material.map { SecKey($0.publicHalf) } }

/// The bytes of a key: Apple's `SecKeyCopyExternalRepresentation`.
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData? {
    reporting(error) {
        guard let material = key.material else { throw KeyFault(errSecUnimplemented, "the key is of a type that is not known here") }
        guard !material.isOfEnclave else { throw KeyFault(errSecUnimplemented, "a private key of the enclave never leaves it") }
        return NSData(data: material.external)
    }
}

/// What a key says of itself: Apple's `SecKeyCopyAttributes`, the bytes of the key included.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let dictionary = NSMutableDictionary()
    let attributes = key.material.map { $0.itemAttributes.merging(key.attributes) } ?? key.attributes
    for (name, value) in attributes.values { dictionary[NSString(string: name.rawValue)] = value.asKeyAttribute(name) }
    dictionary[kSecClass] = kSecClassKey
    if let control = attributes.controlOfKey { dictionary[kSecAttrAccessControl] = control }
    if key.material?.isOfEnclave == false { dictionary[kSecValueData] = NSData(data: key.external) }
    return dictionary
}

/// The bytes of a block, which for RSA are those of a signature: Apple's `SecKeyGetBlockSize`.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.material?.blockBytes ?? 0 }

extension SecKey {
    convenience init(_ material: KeyMaterial) { self.init(material, material.itemAttributes) }
}

extension AttributeValue {
    /// Kinds are compared with constants that are texts; what a key can do is a Boolean.
    fileprivate func asKeyAttribute(_ name: AttributeName) -> AnyObject {
        switch (name, self) {
        case (.type, .number(let number)), (.keyClass, .number(let number)): NSString(string: String(number))
        case (.keySizeInBits, _), (.effectiveKeySize, _), (.creator, _): foundation
        case (_, .number(let number)): NSNumber(value: number != 0)
        default: foundation
        }
    }
}

/// What `SecKeyCreateRandomKey` is asked for.
private struct KeyMaking {
    let dictionary: KeyDictionary

    init(_ parameters: CFDictionary) { dictionary = KeyDictionary(parameters) }

    func pair() throws -> (publicKey: SecKey, privateKey: SecKey) {
        let material = dictionary.namesToken ? try KeyMaterial(try dictionary.madeInEnclave()) : try KeyMaterial.random(try kind())
        let (publicKey, privateKey) = (SecKey(material.publicHalf), SecKey(material))
        let stored = dictionary.isPermanent(isPrivate: true) ? try store(privateKey, isPrivate: true) : nil
        do {
            if dictionary.isPermanent(isPrivate: false) { _ = try store(publicKey, isPrivate: false) }
        } catch {
            // Half a pair is none.
            guard let stored, SecItemDelete([kSecClass: kSecClassKey, kSecValuePersistentRef: stored] as CFDictionary) != errSecSuccess
            else { throw error }
            throw KeyFault(errSecInternal, "only the private key was stored, and it could not be removed again")
        }
        return (publicKey, privateKey)
    }

    static func type(_ dictionary: KeyDictionary) throws -> KeyType {
        guard let text = dictionary.text(kSecAttrKeyType) else { throw KeyFault(errSecParam, "kSecAttrKeyType is missing") }
        guard let type = KeyType(rawValue: text) else { throw KeyFault(errSecParam, "keys of this type are not made here") }
        return type
    }

    private func kind() throws -> KeyMaterial.Kind {
        let own = dictionary.half(isPrivate: true)
        let bits = own.number(kSecAttrKeySizeInBits)
        switch try Self.type(own) {
        case .elliptic:
            guard let curve = CurveName(rawValue: bits ?? 256) else {
                throw KeyFault(errSecKeySizeNotAllowed, "curves here have 256, 384 or 521 bits")
            }
            return .elliptic(curve)
        case .rsa:
            guard let bits = bits, RSAKey.sizesMade.contains(bits) else {
                throw KeyFault(errSecKeySizeNotAllowed, "RSA keys are made with 2048, 3072 or 4096 bits")
            }
            return .rsa(bits: bits)
        }
    }

    /// Answers its persistent reference.
    private func store(_ key: SecKey, isPrivate: Bool) throws -> AnyObject? {
        var reference: CFTypeRef?
        let status = SecItemAdd(dictionary.half(isPrivate: isPrivate).toStore(key), &reference)
        guard status == errSecSuccess else {
            throw KeyFault(status, (SecCopyErrorMessageString(status, nil) as String?) ?? "the key was not stored")
        }
        return reference
    }
}
