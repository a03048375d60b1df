// The attributes of a key in a dictionary and from the key itself (Specs/secitem.md, 12.3).

internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeyWire
internal import VaubanKeychainModel

/// The key types that this process supports itself.
enum KeyType: String, Sendable {
    case rsa = "42"
    case elliptic = "73"
}

extension KeyMaterial {
    /// Returns the key that the bytes encode according to their attributes; nil if that is unknown.
    static func read(_ external: Data, by attributes: ItemAttributes, _ keys: EnclaveKeyContext) -> KeyMaterial? {
        if attributes.isOfEnclave { return try? KeyMaterial(EnclaveKeyReference(stored: external, keys)) }
        guard let type = attributes[.type]?.decimal.flatMap(KeyType.init), let half = attributes[.keyClass]?.decimal,
            ["0", "1"].contains(half)
        else { return nil }
        return try? KeyMaterial(type: type, isPrivate: half == "1", external: external)
    }

    var type: KeyType {
        switch kind {
        case .elliptic: .elliptic
        case .rsa: .rsa
        }
    }

    /// The attributes of a stored item.
    var itemAttributes: ItemAttributes {
        func yes(_ value: Bool) -> AttributeValue { .number(value ? 1 : 0) }
        let shared = ItemAttributes([
            .keyClass: .number(isPrivate ? 1 : 0), .applicationLabel: .data([UInt8](fingerprint)),
            .type: .number(Int64(type.rawValue) ?? 0),
            .keySizeInBits: .number(Int64(bits)), .effectiveKeySize: .number(Int64(bits)), .isPermanent: yes(true), .isPrivate: yes(true),
            .isModifiable: yes(true), .isSensitive: yes(false), .wasAlwaysSensitive: yes(false), .isExtractable: yes(true),
            .wasNeverExtractable: yes(false), .canEncrypt: yes(!isPrivate), .canDecrypt: yes(isPrivate),
            .canDerive: yes(isPrivate || type == .rsa), .canSign: yes(isPrivate), .canVerify: yes(!isPrivate), .canSignRecover: yes(false),
            .canVerifyRecover: yes(false), .canWrap: yes(!isPrivate), .canUnwrap: yes(isPrivate),
        ])
        guard let enclaveKey else { return shared }
        return shared.merging(
            ItemAttributes([
                .isSensitive: yes(true), .wasAlwaysSensitive: yes(true), .isExtractable: yes(false), .wasNeverExtractable: yes(true),
                .isModifiable: yes(false), .canUnwrap: yes(false), .tokenID: .text(EnclaveToken.identifier),
                .accessControl: .data((try? enclaveKey.control.encoded()) ?? []),
            ]))
    }
}

extension ItemAttributes {
    /// The access control of a private key of the enclave.
    var controlOfKey: SecAccessControl? {
        guard case .data(let bytes)? = self[.accessControl] else { return nil }
        return (try? AccessControl(derBytes: bytes)).map { SecAccessControl($0) }
    }
}

extension AttributeValue {
    /// Returns a number or its decimal text: types and sizes are given as either.
    var decimal: String? {
        switch self {
        case .number(let number): String(number)
        case .text(let text): text
        default: nil
        }
    }
}

/// A dictionary that describes a key or a key pair: top-level entries apply to both keys, and each key's own dictionary takes precedence.
struct KeyDictionary {
    private let whole: NSDictionary

    init(_ dictionary: CFDictionary) { whole = dictionary }

    subscript(_ key: CFString) -> AnyObject? { whole[key] as AnyObject? }

    func text(_ key: CFString) -> String? {
        switch self[key] {
        case let text as String: text
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }

    var namesToken: Bool { self[kSecAttrTokenID] != nil || half(isPrivate: true)[kSecAttrTokenID] != nil }

    func number(_ key: CFString) -> Int? { text(key).flatMap { Int($0) } }

    func half(isPrivate: Bool) -> KeyDictionary {
        let merged = NSMutableDictionary()
        for (key, value) in whole { if let name = key as? String { merged[NSString(string: name)] = value } }
        if let own = whole[isPrivate ? kSecPrivateKeyAttrs : kSecPublicKeyAttrs] as? NSDictionary {
            for (key, value) in own { if let name = key as? String { merged[NSString(string: name)] = value } }
        }
        // A public key belongs to no token, and requires no prompt unless its own dictionary specifies them.
        if !isPrivate, namesToken {
            merged.removeObject(forKey: kSecAttrTokenID)
            if (whole[kSecPublicKeyAttrs] as? NSDictionary)?[kSecAttrAccessControl] == nil {
                merged.removeObject(forKey: kSecAttrAccessControl)
            }
        }
        merged.removeObject(forKey: kSecPrivateKeyAttrs)
        merged.removeObject(forKey: kSecPublicKeyAttrs)
        return KeyDictionary(merged)
    }

    /// Returns whether to store a key; the public key is stored only if its own dictionary specifies that.
    func isPermanent(isPrivate: Bool) -> Bool {
        let own = whole[isPrivate ? kSecPrivateKeyAttrs : kSecPublicKeyAttrs] as? NSDictionary
        // A key of the enclave is stored unless the dictionary specifies otherwise (Specs/secitem.md, 12.1).
        return (own?[kSecAttrIsPermanent] as? Bool) ?? (isPrivate ? self[kSecAttrIsPermanent] as? Bool : nil) ?? (isPrivate && namesToken)
    }

    /// Returns the caller's attributes combined with the key's own, for `SecItemAdd`.
    func toStore(_ key: SecKey) -> CFDictionary {
        let attributes = NSMutableDictionary()
        for (name, value) in whole {
            guard let name = name as? String, name.utf8.count == 4 || name.hasPrefix("u_"), !Self.ofItself.contains(name) else { continue }
            attributes[NSString(string: name)] = value
        }
        attributes[kSecClass] = kSecClassKey
        attributes[kSecValueRef] = key
        attributes[kSecReturnPersistentRef] = kCFBooleanTrue
        return attributes
    }

    /// The attributes that come from the key itself, whatever the dictionary contains.
    private static let ofItself: Set<String> = Set(
        [kSecAttrKeyClass, kSecAttrKeyType, kSecAttrKeySizeInBits, kSecAttrEffectiveKeySize, kSecAttrIsPermanent].map { $0 as String })
}
