internal import VaubanKeyWire
internal import VaubanKeychainModel

/// A cryptographic key: Apple's `SecKey`. Two are equal when they are of the same half and kind, and their bytes and what
/// makes them unique are equal.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecKey: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 258
    let attributes: ItemAttributes
    /// What the key does; nil where the bytes are no key of a type that is known here.
    let material: KeyMaterial?
    /// The external form of what has no material.
    private let unread: PrivateBytes?

    /// A key as the keychain keeps it.
    init(attributes: ItemAttributes, external: Data, keys: EnclaveKeyContext = EnclaveKeyContext()) {
        // Those of a certificate are not the key's, where it comes with one.
        self.attributes = ItemAttributes(attributes.values.filter { AttributeRule.rule(for: $0.key, of: .key) != nil })
        material = KeyMaterial.read(external, by: self.attributes, keys)
        unread = material == nil ? PrivateBytes(external) : nil
    }

    init(_ material: KeyMaterial, _ attributes: ItemAttributes) {
        self.material = material
        self.attributes = attributes
        unread = nil
    }

    /// What is stored of it: the external form, which for a private key is the key itself, or what the enclave made of it.
    var external: Data { material?.external ?? unread?.disclosed() ?? Data() }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey, hasSameBytes(as: other) else { return false }
        // One key of the enclave is one, wherever it is kept.
        if let mine = material?.enclaveKey, let theirs = other.material?.enclaveKey { return mine.identifier == theirs.identifier }
        return AttributeRule.primary(of: .key).allSatisfy { attributes[$0.name] == other.attributes[$0.name] }
    }

    /// The public half says which private one it is.
    private func hasSameBytes(as other: SecKey) -> Bool {
        switch (material, other.material) {
        case (let mine?, let theirs?):
            mine.kind == theirs.kind && mine.isPrivate == theirs.isPrivate && mine.publicBytes == theirs.publicBytes
        case (nil, nil): unread.flatMap { mine in other.unread.map { mine.equals($0) } } ?? true
        default: false
        }
    }

    public override var hash: Int { material?.publicBytes.hashValue ?? attributes[.applicationLabel]?.equalityBytes.hashValue ?? 0 }

    // Never the key itself.
    public override var description: String {
        guard let material else { return "<SecKey>" }
        let half = material.isPrivate ? "private" : "public"
        if material.isOfEnclave { return "<SecKey: private EC key of the enclave, \(material.bits) bits>" }
        return switch material.kind {
        case .elliptic: "<SecKey: \(half) EC key, \(material.bits) bits>"
        case .rsa: "<SecKey: \(half) RSA key, \(material.bits) bits>"
        }
    }
}

/// The class number: Apple's `SecKeyGetTypeID`.
public func SecKeyGetTypeID() -> CFTypeID { SecKey.typeID }
