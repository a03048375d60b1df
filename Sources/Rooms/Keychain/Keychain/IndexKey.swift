internal import Crypto
internal import KeychainStore
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// An index key during one request. The key schedule is computed once, when the request first needs a blind, and is not kept afterwards.
struct IndexKey {
    private final class Processed {
        let key: SymmetricKey
        lazy var keyed = HMAC<SHA256>(key: key)

        init(_ key: SymmetricKey) { self.key = key }
    }

    private let processed: Processed
    private let repeated: RepeatedBlinds

    init(_ key: SymmetricKey, _ repeated: RepeatedBlinds = RepeatedBlinds()) {
        processed = Processed(key)
        self.repeated = repeated
    }

    /// Returns the first bytes of the authentication code of a message.
    func blind(_ message: [UInt8]) -> [UInt8] {
        var code = processed.keyed
        message.withUnsafeBytes { code.update(data: $0) }
        return Array(code.finalize().prefix(AttributeBlinds.blindBytes))
    }

    /// Returns the first eight bytes of the authentication code of a message and a secret that follows it.
    func code(_ message: [UInt8], then secret: borrowing SecretBytes? = nil) -> UInt64 {
        var code = processed.keyed
        message.withUnsafeBytes { code.update(data: $0) }
        switch secret {
        case .none: break
        case .some(let secret): secret.withUnsafeBytes { code.update(data: $0) }
        }
        return code.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the blind of one attribute in the form of a `BlindList`, which nearly every search repeats for some attributes.
    func listed(_ kind: ItemKind, _ attribute: IndexedAttribute) -> [UInt8] {
        guard RepeatedBlinds.names.contains(attribute.name) else { return AttributeBlinds.entry(for: attribute, kind: kind, key: self) }
        return repeated.entry(kind, attribute: attribute) { AttributeBlinds.entry(for: attribute, kind: kind, key: self) }
    }
}

/// Blinds that searches use repeatedly: of the access group, and of not being synchronizable. They are no secret to anyone who can read the
/// database. They are erased with their key.
final class RepeatedBlinds: Sendable {
    static let names: [AttributeName] = [.synchronizable, .accessGroup]
    private static let countMax = 64

    private struct Attribute: Hashable {
        let kind: ItemKind
        let name: AttributeName
        let value: AttributeValue
    }

    private let entries = ThreadMutex<[Attribute: [UInt8]]>([:])

    func entry(_ kind: ItemKind, attribute: IndexedAttribute, make: () -> [UInt8]) -> [UInt8] {
        let key = Attribute(kind: kind, name: attribute.name, value: attribute.value)
        if let known = entries.withLock({ $0[key] }) { return known }
        let made = make()
        entries.withLock { entries in
            if entries.count >= Self.countMax { entries = [:] }
            entries[key] = made
        }
        return made
    }
}
