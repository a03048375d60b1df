// Creation of keys: random, from bytes, and the public key of a private one.

internal import VaubanKeychainModel

/// Creates a private key: Apple's `SecKeyCreateRandomKey`.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType` and `kSecAttrKeySizeInBits`; `kSecAttrTokenID` for a key of the enclave; `kSecAttrIsPermanent` in
///     `kSecPrivateKeyAttrs` to store it. A key of the enclave is stored unless it is false there.
///   - error: Receives an error of `NSOSStatusErrorDomain`: `errSecParam` for an unsupported type or token, `errSecKeySizeNotAllowed` for
///     a size, or a status of `SecItemAdd`.
/// - Returns: The private key, or nil. If storing it fails, no key is created.
@discardableResult
public func SecKeyCreateRandomKey(_ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> SecKey? {
    withReportedError(error) { try KeyMaking(parameters).pair().privateKey }
}

/// Creates a key pair: Apple's `SecKeyGeneratePair`, the older form of `SecKeyCreateRandomKey`.
///
/// - Returns: `errSecSuccess`, `errSecParam` for an unsupported type, `errSecKeySizeNotAllowed`, or the status of storing the keys.
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?, _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    withReportedStatus {
        let pair = try KeyMaking(parameters).pair()
        publicKey?.pointee = pair.publicKey
        privateKey?.pointee = pair.privateKey
    }
}

/// Creates a key from its external representation, without storing it: Apple's `SecKeyCreateWithData`.
///
/// - Parameters:
///   - keyData: X9.63 for curves, PKCS #1 for RSA. An RSA key may also be a certificate's subjectPublicKeyInfo (RFC 5280) or a private key
///     in PKCS #8 (RFC 5208). With `kSecAttrTokenID`, the stored bytes of a key of the enclave.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`.
///   - error: Receives an error of `NSOSStatusErrorDomain`: `errSecParam` for bytes that are not such a key, `errSecUnimplemented` for a
///     symmetric key.
/// - Returns: The key, or nil.
public func SecKeyCreateWithData(_ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?)
    -> SecKey?
{
    withReportedError(error) {
        let dictionary = KeyDictionary(attributes)
        if dictionary.namesToken {
            try dictionary.checkToken()
            return SecKey(try KeyMaterial(EnclaveKeyReference(checking: keyData as Data, try dictionary.keyContext())))
        }
        let type = try KeyMaking.type(dictionary)
        switch dictionary.text(kSecAttrKeyClass) {
        case "0": return SecKey(try KeyMaterial(type: type, isPrivate: false, external: keyData as Data))
        case "1": return SecKey(try KeyMaterial(type: type, isPrivate: true, external: keyData as Data))
        case "2": throw StatusError(errSecUnimplemented, "symmetric keys can be stored as items, but not used as SecKey")
        default: throw StatusError(errSecParam, "kSecAttrKeyClass is neither public nor private")
        }
    }
}

/// Returns the public key of a key: Apple's `SecKeyCopyPublicKey`. Nil for a key of an unsupported type.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { key.material.map { SecKey($0.publicHalf) } }

/// Returns the external representation of a key: Apple's `SecKeyCopyExternalRepresentation`. X9.63 for curves, PKCS #1 for RSA. Nil and
/// errSecUnimplemented for private keys of the enclave and unsupported types.
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFData? {
    withReportedError(error) {
        guard let material = key.material else { throw StatusError(errSecUnimplemented, "the key is of an unsupported type") }
        guard !material.isOfEnclave else { throw StatusError(errSecUnimplemented, "a private key of the enclave never leaves it") }
        return NSData(data: material.external)
    }
}

/// Returns the attributes of a key, including its bytes in `kSecValueData` unless the enclave has them: Apple's `SecKeyCopyAttributes`.
/// Types and classes are strings, sizes are numbers of bits, usages are Booleans, and `kSecAttrApplicationLabel` is the SHA-1 digest of the
/// public key's external representation, 20 bytes.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let dictionary = NSMutableDictionary()
    let attributes = key.material.map { $0.itemAttributes.merging(key.attributes) } ?? key.attributes
    for (name, value) in attributes { dictionary[NSString(string: name.rawValue)] = value.asKeyAttribute(name) }
    dictionary[kSecClass] = kSecClassKey
    if let control = attributes.controlOfKey { dictionary[kSecAttrAccessControl] = control }
    if key.material?.isOfEnclave == false { dictionary[kSecValueData] = NSData(data: key.external) }
    return dictionary
}

/// Returns the block size in bytes, which for RSA is the size of a signature: Apple's `SecKeyGetBlockSize`. 0 for a key of an unsupported
/// type.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.material?.blockBytes ?? 0 }

extension SecKey {
    convenience init(_ material: KeyMaterial) { self.init(material, material.itemAttributes) }
}

extension AttributeValue {
    /// Types and classes are strings, which callers compare with constants; usages are Booleans.
    fileprivate func asKeyAttribute(_ name: AttributeName) -> AnyObject {
        switch (name, self) {
        case (.type, .number(let number)), (.keyClass, .number(let number)): NSString(string: String(number))
        case (.keySizeInBits, _), (.effectiveKeySize, _), (.creator, _): foundation
        case (_, .number(let number)): NSNumber(value: number != 0)
        default: foundation
        }
    }
}

/// The parameters of `SecKeyCreateRandomKey`.
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
            // Removes the private key if the public key could not be stored.
            guard let stored, SecItemDelete([kSecClass: kSecClassKey, kSecValuePersistentRef: stored] as CFDictionary) != errSecSuccess
            else { throw error }
            throw StatusError(errSecInternal, "only the private key was stored, and it could not be removed again")
        }
        return (publicKey, privateKey)
    }

    static func type(_ dictionary: KeyDictionary) throws -> KeyType {
        guard let text = dictionary.text(kSecAttrKeyType) else { throw StatusError(errSecParam, "kSecAttrKeyType is missing") }
        guard let type = KeyType(rawValue: text) else { throw StatusError(errSecParam, "keys of this type cannot be created") }
        return type
    }

    private func kind() throws -> KeyMaterial.Kind {
        let own = dictionary.half(isPrivate: true)
        let bits = own.number(kSecAttrKeySizeInBits)
        switch try Self.type(own) {
        case .elliptic:
            guard let curve = CurveName(rawValue: bits ?? 256) else {
                throw StatusError(errSecKeySizeNotAllowed, "elliptic-curve keys have 256, 384 or 521 bits")
            }
            return .elliptic(curve)
        case .rsa:
            guard let bits = bits, RSAKey.sizesMade.contains(bits) else {
                throw StatusError(errSecKeySizeNotAllowed, "RSA keys are created with 2048, 3072 or 4096 bits")
            }
            return .rsa(bits: bits)
        }
    }

    /// Stores a key and returns its persistent reference.
    private func store(_ key: SecKey, isPrivate: Bool) throws -> AnyObject? {
        var reference: CFTypeRef?
        let status = SecItemAdd(dictionary.half(isPrivate: isPrivate).toStore(key), &reference)
        guard status == errSecSuccess else {
            throw StatusError(status, (SecCopyErrorMessageString(status, nil) as String?) ?? "the key was not stored")
        }
        return reference
    }
}
