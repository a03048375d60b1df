// Converts a match to the objects that the return keys request (Specs/secitem.md, 6.1).

internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanRefusal
internal import VaubanSecretBytes

/// One match, with its value copied out once.
struct ItemResult {
    let kind: ItemKind
    let record: ItemRecord?
    let reference: [UInt8]?
    let value: Data?
    /// The item as an object; nil for passwords, and if it was not requested.
    let object: ItemObject?

    /// The result of adding a known object.
    init(_ record: ItemRecord, _ object: ItemObject, value: Data?, reference: [UInt8]?) {
        (kind, self.record, self.object, self.reference) = (record.kind, record, object, reference)
        self.value = record.attributes.isOfEnclave ? nil : value
    }

    /// Returns nil if the value does not match the class: bytes that are not a certificate. `keys` is the context for using a private key
    /// of the enclave.
    init?(_ entry: ReceivedItem, kind: ItemKind, makesObject: Bool, keys: EnclaveKeyContext = EnclaveKeyContext()) {
        self.kind = kind
        record = entry.record
        reference = entry.reference
        var value: Data?
        if let secret = entry.takeSecret() { value = secret.disclosed() }
        // The bytes of such a key are useful only to the enclave.
        self.value = entry.record?.attributes.isOfEnclave == true ? nil : value
        guard makesObject else {
            object = nil
            return
        }
        switch kind {
        case .certificate:
            guard let value, let certificate = SecCertificate(der: [UInt8](value)) else { return nil }
            object = .certificate(certificate)
        case .key: object = .key(SecKey(attributes: record?.attributes ?? ItemAttributes(), external: value ?? Data(), keys: keys))
        case .identity:
            guard let der = entry.certificate, let certificate = SecCertificate(der: der) else { return nil }
            object = .identity(
                SecIdentity(
                    certificate: certificate,
                    key: SecKey(attributes: record?.attributes ?? ItemAttributes(), external: value ?? Data(), keys: keys)))
        case .genericPassword, .internetPassword, .permission: object = nil
        }
    }

    var certificate: SecCertificate? {
        switch object {
        case .certificate(let certificate): certificate
        case .identity(let identity): identity.certificate
        default: nil
        }
    }

    /// Returns the result in the form that the return keys request. A password has no reference object: with that key alone, the call
    /// succeeds and returns nil. Data alone is never nil: an item without a value returns empty data.
    func shaped(_ returns: ItemReturns) -> AnyObject? {
        switch returns {
        case []: return nil
        case .data: return NSData(data: value ?? Data())
        case .persistentRef: return persistentReference
        case .ref: return object?.object
        default: break
        }
        var entries = DictionaryEntries()
        if returns.contains(.attributes), let record { entries.add(record, of: kind) }
        if returns.contains(.data), let value { entries.add(kSecValueData, NSData(data: value)) }
        if returns.contains(.persistentRef), let persistentReference { entries.add(kSecValuePersistentRef, persistentReference) }
        if returns.contains(.ref) {
            entries.add(kSecClass, NSString(string: kind.code))
            if let object { entries.add(kSecValueRef, object.object) }
        }
        return entries.dictionary
    }

    private var persistentReference: NSData? { reference.map { PersistentReference(kind: kind, item: $0).data } }
}

/// The entries of a result, from which a dictionary is made at once: Foundation casts each key that is set on its own.
private struct DictionaryEntries {
    private var keys: [NSObject] = []
    private var objects: [AnyObject] = []

    /// Adds an entry. The last one with a key counts.
    mutating func add(_ key: CFString, _ object: AnyObject) {
        keys.append(key)
        objects.append(object)
    }

    /// Adds the attributes, including those of the primary key that the item was added without.
    mutating func add(_ record: ItemRecord, of kind: ItemKind) {
        for (name, attribute) in record.attributes { add(NSString(string: name.rawValue), attribute.foundation) }
        for unset in UnsetAttribute.all(of: kind) where record.attributes[unset.name] == nil { add(unset.key, unset.object) }
        add(kSecAttrAccessible, NSString(string: record.protection.rawValue))
        let control = record.attributes.controlOfKey ?? record.accessControl.map { SecAccessControl($0) }
        add(kSecAttrAccessControl, control ?? SecAccessControl(bare: record.protection))
    }

    var dictionary: NSDictionary { NSDictionary(objects: objects, forKeys: keys, count: keys.count) }
}

/// An attribute of the primary key as the result of an item without it has it: empty, zero or the reference date
/// (Specs/item-attributes.md, Key).
private struct UnsetAttribute {
    let name: AttributeName
    let key: NSString
    let object: AnyObject

    private init(_ rule: AttributeRule) {
        name = rule.name
        key = NSString(string: rule.name.rawValue)
        let value: AttributeValue =
            switch rule.form {
            case .blob, .text: .text("")
            case .data: .data([])
            case .number: .number(0)
            case .date: .date(0)
            }
        object = value.foundation
    }

    static func all(of kind: ItemKind) -> [UnsetAttribute] { byKind[kind] ?? [] }

    /// Made once, since every result with attributes needs them. The objects are immutable and never replaced, so `nonisolated(unsafe)` is
    /// sound.
    nonisolated(unsafe) private static let byKind: [ItemKind: [UnsetAttribute]] = Dictionary(
        uniqueKeysWithValues: (ItemKind.allCases + [.identity]).map { kind in
            // An identity has the attributes of its key and of its certificate.
            let kinds: [ItemKind] = kind == .identity ? [.key, .certificate] : [kind]
            let rules = kinds.flatMap { AttributeRule.primary(of: $0) }.filter { $0.part == .always }
            return (kind, rules.map { UnsetAttribute($0) })
        })
}

extension AttributeValue {
    /// Converts a value from a caller's dictionary. A Boolean becomes the number 0 or 1 (Specs/secitem.md, 3).
    init(foundation value: AnyObject) throws {
        switch value {
        case let text as String: self = .text(text)
        case let data as Data: self = .data([UInt8](data))
        case let date as Date:
            guard let microseconds = Int64(exactly: (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()) else {
                throw Refusal(.badParameter, "An attribute has a date that is out of range")
            }
            self = .date(microseconds)
        case let number as NSNumber: self = .number(number.int64Value)
        case let uuid as UUID: self = .text(uuid.uuidString)
        default: throw Refusal(.badParameter, "An attribute has an unsupported type")
        }
    }

    /// The object for the caller, of the type that was stored.
    var foundation: AnyObject {
        switch self {
        case .text(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .number(let number): NSNumber(value: number)
        case .date(let microseconds): NSDate(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000)
        }
    }
}
