internal import VaubanKeychainModel

/// A cryptographic key: Apple's `SecKey`, as the keychain keeps and returns it. Two are equal when their bytes and what makes
/// them unique are.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecKey: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 258
    let attributes: ItemAttributes
    /// The key's external form.
    let external: Data

    init(attributes: ItemAttributes, external: Data) {
        // Those of a certificate are not the key's, where it comes with one.
        self.attributes = ItemAttributes(attributes.values.filter { AttributeRule.rule(for: $0.key, of: .key) != nil })
        self.external = external
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return external == other.external && AttributeRule.primary(of: .key).allSatisfy { attributes[$0.name] == other.attributes[$0.name] }
    }

    public override var hash: Int { external.hashValue }
    // Never the key itself.
    public override var description: String { "<SecKey>" }
}

/// The class number: Apple's `SecKeyGetTypeID`.
public func SecKeyGetTypeID() -> CFTypeID { SecKey.typeID }
