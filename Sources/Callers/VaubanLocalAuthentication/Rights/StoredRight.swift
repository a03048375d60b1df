// Rights in the keychain (Specs/rights.md): a private key of the enclave with the right's requirement, and a record that names it. The
// record is written last and deleted first, so that a killed process leaves a whole right or none.

internal import Foundation
internal import VaubanSecurity

/// One right as found in the keychain.
///
/// `@unchecked Sendable`: every stored property is immutable, as are the objects they refer to.
struct StoredRight: @unchecked Sendable {
    let identifier: String
    let tag: Int
    let kind: LAAuthenticationRequirement.Kind
    let control: SecAccessControl
    /// The label by which the record names its key (`kSecAttrApplicationLabel`).
    let label: Data
    /// The key without a context, for queries about its algorithms only.
    let key: SecKey
    let publicKey: SecKey
    /// The secret, encrypted with the public key; nil if none was saved.
    let secret: Data?
}

extension StoredRight {
    static let service = "app.vauban.right"
    static let encryption = SecKeyAlgorithm.eciesEncryptionCofactorVariableIVX963SHA256AESGCM

    private static func tag(of identifier: String) -> Data { Data("\(service):\(identifier)".utf8) }

    private static func record(_ identifier: String, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
        let record: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: identifier]
        return record.merging(more) { $1 }
    }

    private static func key(_ tag: Data, label: Data, more: [CFString: Any] = [:]) -> [CFString: Any] {
        let key: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecAttrApplicationTag: tag, kSecAttrApplicationLabel: label,
        ]
        return key.merging(more) { $1 }
    }

    // MARK: Finding

    static func find(_ identifier: String) throws -> StoredRight {
        let record = try Record(found: KeychainCall.find(record(identifier, [kSecReturnAttributes: true, kSecReturnData: true])))
        let key = try privateKey(identifier, record.label, context: nil)
        let attributes = SecKeyCopyAttributes(key).map { $0 as NSDictionary }
        guard let publicKey = SecKeyCopyPublicKey(key), let control = attributes?[kSecAttrAccessControl] as? SecAccessControl,
            let kind = LAAuthenticationRequirement.Kind.of(control)
        else { throw KeychainCall.fault(errSecDecode) }
        return StoredRight(
            identifier: identifier, tag: record.tag, kind: kind, control: control, label: record.label, key: key, publicKey: publicKey,
            secret: record.secret)
    }

    /// Returns the key for use with a context. Looking it up does not prompt; using it would.
    func privateKey(for context: LAContext) throws -> SecKey { try Self.privateKey(identifier, label, context: context) }

    private static func privateKey(_ identifier: String, _ label: Data, context: LAContext?) throws -> SecKey {
        var query = key(tag(of: identifier), label: label, more: [kSecReturnRef: true])
        query[kSecUseAuthenticationContext] = context
        guard let key = try KeychainCall.find(query) as? SecKey else { throw KeychainCall.fault(errSecDecode) }
        return key
    }

    // MARK: Saving

    static func save(_ kind: LAAuthenticationRequirement.Kind, tag number: Int, identifier: String, secret: Data?) throws -> StoredRight {
        guard !identifier.isEmpty, let control = kind.control(forKey: true) else { throw KeychainCall.fault(errSecParam) }
        try makeRoom(for: identifier)
        let made = try makeKey(identifier, control)
        guard let label = SecKeyCopyAttributes(made)?[kSecAttrApplicationLabel] as? Data, let publicKey = SecKeyCopyPublicKey(made) else {
            throw KeychainCall.fault(errSecDecode)
        }
        do {
            let sealed = try secret.map { secret in
                try KeychainCall.data { SecKeyCreateEncryptedData(publicKey, encryption, NSData(data: secret), $0) }
            }
            let content = RightContent(tag: number, secret: sealed.map { Array($0) })
            try KeychainCall.add(
                record(
                    identifier,
                    [
                        kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, kSecAttrGeneric: label,
                        kSecAttrLabel: identifier,
                        kSecAttrDescription: "right", kSecAttrComment: content.comment, kSecValueData: Data(content.value),
                    ]))
        } catch {
            // Deletes the unused key: the identifier is in use, or the record could not be added.
            try? KeychainCall.delete(key(tag(of: identifier), label: label))
            throw error
        }
        deleteStrayKeys { $0.tag == tag(of: identifier) && $0.label != label }
        // Another caller may have removed the right at the same time; then nothing of it is left.
        do { return try find(identifier) } catch {
            try? KeychainCall.delete(record(identifier, [kSecAttrGeneric: label]))
            throw error
        }
    }

    /// Throws if the identifier has a right. A record without its key is not a right, and is removed.
    private static func makeRoom(for identifier: String) throws {
        do {
            let old = try Record(found: KeychainCall.find(record(identifier, [kSecReturnAttributes: true, kSecReturnData: true])))
            if try KeychainCall.isThere(key(tag(of: identifier), label: old.label)) { throw KeychainCall.fault(errSecDuplicateItem) }
            try KeychainCall.delete(record(identifier, [kSecAttrGeneric: old.label]))
        } catch let error as NSError where error.code == Int(errSecItemNotFound) {}
    }

    private static func makeKey(_ identifier: String, _ control: SecAccessControl) throws -> SecKey {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecPrivateKeyAttrs: [
                kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag(of: identifier), kSecAttrAccessControl: control,
                kSecAttrLabel: identifier,
            ] as [CFString: Any],
        ]
        return try KeychainCall.object { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
    }

    // MARK: Removing

    static func remove(_ identifier: String) throws {
        let label = try Record(found: KeychainCall.find(record(identifier, [kSecReturnAttributes: true, kSecReturnData: true]))).label
        try remove(identifier, label)
    }

    /// Removes this right, but not one saved under its identifier since.
    func remove() throws { try Self.remove(identifier, label) }

    private static func remove(_ identifier: String, _ label: Data) throws {
        var missing: NSError?
        do { try KeychainCall.delete(record(identifier, [kSecAttrGeneric: label])) } catch let error as NSError
            where error.code == Int(errSecItemNotFound)
        {
            missing = error
        }
        // Delete the key even if the record no longer exists: an earlier removal may have stopped halfway.
        do { try KeychainCall.delete(key(tag(of: identifier), label: label)) } catch let error as NSError
            where error.code == Int(errSecItemNotFound)
        {}
        if let missing { throw missing }
    }

    static func removeAll() throws {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        for found in try KeychainCall.list(query) {
            guard let identifier = found[kSecAttrAccount] as? String, let label = found[kSecAttrGeneric] as? Data else { continue }
            do { try remove(identifier, label) } catch let error as NSError where error.code == Int(errSecItemNotFound) {}
        }
        deleteStrayKeys { $0.tag.starts(with: tag(of: "")) }
    }

    /// Deletes keys without a record, left behind by a killed process. Keys that cannot be deleted stay until the next call; they are not
    /// rights.
    private static func deleteStrayKeys(_ isStray: ((tag: Data, label: Data)) -> Bool) {
        let query: [CFString: Any] = [
            kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        for found in (try? KeychainCall.list(query)) ?? [] {
            guard let tag = found[kSecAttrApplicationTag] as? Data, let label = found[kSecAttrApplicationLabel] as? Data,
                isStray((tag, label)),
                !isNamed(label, String(decoding: tag.dropFirst(self.tag(of: "").count), as: UTF8.self))
            else { continue }
            try? KeychainCall.delete(key(tag, label: label))
        }
    }

    /// Returns whether a record names the key: another caller may have saved a right under the identifier meanwhile. Returns true if that
    /// cannot be read.
    private static func isNamed(_ label: Data, _ identifier: String) -> Bool {
        do {
            return try Record(found: KeychainCall.find(record(identifier, [kSecReturnAttributes: true, kSecReturnData: true]))).label
                == label
        } catch {
            return (error as NSError).code != Int(errSecItemNotFound)
        }
    }
}

/// The contents of a record.
private struct Record {
    let label: Data
    let tag: Int
    let secret: Data?

    init(found: AnyObject) throws {
        guard let attributes = found as? NSDictionary, let label = attributes[kSecAttrGeneric] as? Data,
            let value = attributes[kSecValueData] as? Data, let comment = attributes[kSecAttrComment] as? String,
            let content = RightContent(value: Array(value), comment: comment)
        else { throw KeychainCall.fault(errSecDecode) }
        self.label = label
        tag = content.tag
        secret = content.secret.map { Data($0) }
    }
}
