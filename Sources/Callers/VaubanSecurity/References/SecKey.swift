internal import VaubanKeyWire
internal import VaubanKeychainModel

/// A cryptographic key: Apple's `SecKey`. Keys are equal if their class, type and bytes are equal, wherever they are stored.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecKey: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 258
    let attributes: ItemAttributes
    /// The parsed key; nil if its type is unsupported.
    let material: KeyMaterial?
    /// The external form of an unsupported key.
    private let unread: PrivateBytes?

    /// Creates a key from an item of the keychain.
    init(attributes: ItemAttributes, external: Data, keys: EnclaveKeyContext = EnclaveKeyContext()) {
        // Drops attributes of a certificate that was found with the key.
        self.attributes = attributes.filter { AttributeRule.rule(for: $0.name, of: .key) != nil }
        material = KeyMaterial.read(external, by: self.attributes, keys)
        unread = material == nil ? PrivateBytes(external) : nil
    }

    init(_ material: KeyMaterial, _ attributes: ItemAttributes) {
        self.material = material
        self.attributes = attributes
        unread = nil
    }

    /// The bytes to store: the external form, or for a private key of the enclave its encrypted form.
    var external: Data { material?.external ?? unread?.disclosed() ?? Data() }

    /// Returns whether the other object is an equal key.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey, hasSameBytes(as: other) else { return false }
        if let mine = material, let theirs = other.material { return mine.enclaveKey?.identifier == theirs.enclaveKey?.identifier }
        // Only the attributes tell what the bytes of an unsupported key mean.
        return AttributeRule.primary(of: .key).allSatisfy { attributes[$0.name] == other.attributes[$0.name] }
    }

    /// The public key identifies the private key.
    private func hasSameBytes(as other: SecKey) -> Bool {
        switch (material, other.material) {
        case (let mine?, let theirs?):
            mine.kind == theirs.kind && mine.isPrivate == theirs.isPrivate && mine.publicBytes == theirs.publicBytes
        case (nil, nil): unread.flatMap { mine in other.unread.map { mine.equals($0) } } ?? true
        default: false
        }
    }

    /// A hash of the public key.
    public override var hash: Int { material?.publicBytes.hashValue ?? attributes[.applicationLabel]?.equalityBytes.hashValue ?? 0 }

    // Never includes the key itself.
    /// The key's class, type and size, for logs.
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

/// Returns the type identifier of `SecKey`: Apple's `SecKeyGetTypeID`.
public func SecKeyGetTypeID() -> CFTypeID { SecKey.typeID }
