import ArgumentParser
import Crypto
import Foundation
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanSSHWire
import VaubanSecretBytes
import VaubanUserModel

/// The public part of an SSH key.
struct SSHKeyOfUser {
    let name: String
    let publicKey: SSHPublicKey
    let isOfEnclave: Bool
    let needsApproval: Bool
    let protection: ProtectionClass
    /// The time for which an answer holds; nil if it is for one signature.
    var hold: SSHHold?

    /// The line for authorized_keys.
    var line: String { "\(publicKey.type.rawValue) \(Data(publicKey.blob).base64EncodedString()) \(SafeText.line(name, max: 80))" }

    /// The fingerprint as OpenSSH shows it.
    var fingerprint: String { Self.fingerprint(of: publicKey.blob) }

    /// Returns the fingerprint of a public key or certificate in its encoded form.
    static func fingerprint(of blob: [UInt8]) -> String {
        "SHA256:\(Data(SHA256.hash(data: blob)).base64EncodedString().prefix { $0 != "=" })"
    }

    /// The fields of a row of vauban ssh list.
    var fields: [String?] {
        [
            SafeText.visible(name), publicKey.type.rawValue, fingerprint, isOfEnclave ? "made here" : "imported",
            needsApproval ? "prompts" : nil,
            needsApproval ? hold.map { "an answer holds \(DurationText.exact($0.seconds))" } : nil,
        ]
    }

    var row: String { fields.compactMap(\.self).joined(separator: "  ") }
}

/// The SSH keys among the user's items (Specs/ssh-agent.md).
struct SSHKeyring {
    private let client: ServiceClient
    private static let nameBytesMax = 100

    init(_ client: ServiceClient) { self.client = client }

    static func check(name: String) throws {
        guard !name.isEmpty, name.utf8.count <= nameBytesMax, SafeText.line(name, max: nameBytesMax) == name else {
            throw ValidationError("The name of a key must be one line of at most \(nameBytesMax) bytes")
        }
    }

    func keys() throws -> [SSHKeyOfUser] {
        try client.withUnlock {
            var made = SSHItem.ofEnclave
            // The data is not a secret: only the enclave can read the key in it.
            made.returns.insert(.data)
            made.authenticationUI = .skip
            let imported = SSHItem.passwords(of: SSHItem.importedService)
            let holds = try SSHHolds(client).all()
            let keys = try client.found(made).compactMap(Self.made).map { key in
                var key = key
                key.hold = holds[key.name]
                return key
            }
            return try (keys + client.found(imported).compactMap(Self.imported)).sorted { $0.name < $1.name }
        }
    }

    /// Returns the key of this name.
    ///
    /// - Throws: A refusal (`itemNotFound`) if there is no such key.
    func key(_ name: String) throws -> SSHKeyOfUser {
        let keys = try keys()
        guard let key = keys.first(where: { $0.name == name }) else { throw Self.noKey(name, among: keys) }
        return key
    }

    /// Returns the refusal for a name that no key has, with similar names as suggestions.
    static func noKey(_ name: String, among keys: [SSHKeyOfUser]) -> Refusal {
        let near = Similarity.nearest(to: name, among: Set(keys.map(\.name))).map(SafeText.visible)
        let way = near.isEmpty ? "To list keys: vauban ssh list" : "Did you mean \(near.joined(separator: ", or "))?"
        return Refusal(.itemNotFound, "No SSH key \(SafeText.visible(name)). \(way)")
    }

    /// Returns the key with this public half, or nil if there is none.
    func key(_ publicKey: SSHPublicKey) throws -> SSHKeyOfUser? { try keys().first { $0.publicKey == publicKey } }

    private static func made(_ found: ReceivedItem) -> SSHKeyOfUser? {
        guard let record = found.record, let value = found.takeSecret(),
            let key = try? EnclaveKey(stored: value.withUnsafeBytes { [UInt8]($0) }),
            key.kind == .p256
        else { return nil }
        let needsApproval = key.control.flags.contains(.userPresence)
        return SSHKeyOfUser(
            name: record.text(.label), publicKey: SSHPublicKey(p256: key.publicKey), isOfEnclave: true, needsApproval: needsApproval,
            protection: record.protection)
    }

    private static func imported(_ found: ReceivedItem) -> SSHKeyOfUser? {
        guard let record = found.record, case .data(let blob)? = record.attributes[.generic], let key = try? SSHPublicKey(blob: blob) else {
            return nil
        }
        return SSHKeyOfUser(
            name: record.text(.account), publicKey: key, isOfEnclave: false, needsApproval: record.needsApproval,
            protection: record.protection)
    }

    /// Refuses a name that a key has.
    ///
    /// - Parameter way: What else the user can do, the end of the message.
    /// - Throws: A refusal (`duplicateItem`) if a key has the name.
    func requireNew(_ name: String, orElse way: String) throws {
        guard try !keys().contains(where: { $0.name == name }) else {
            throw Refusal(.duplicateItem, "An SSH key \(name) already exists; \(way)")
        }
    }

    /// Creates a key in the enclave.
    func make(_ name: String, _ options: ProtectionOptions) throws -> SSHKeyOfUser {
        try requireNew(name, orElse: "to replace it with a new one: vauban ssh rotate \(name)")
        let (protection, asked) = try options.applied(to: .whenUnlockedThisDeviceOnly, nil)
        let flags: AccessControlFlags = asked == nil ? [] : [.privateKeyUsage, .userPresence]
        let control = try AccessControl(protection: protection.onThisDevice, flags: flags)
        let key = try KeyClient(service: client.service).make(.p256, control)
        let attributes = try EnclaveKeyAttributes.of(key, named: name, tag: SSHItem.tag)
        let record = ItemRecord(kind: .key, attributes: attributes, protection: control.protection)
        try client.add(record, secret: SecretBytes(copying: try key.encoded()))
        return SSHKeyOfUser(
            name: name, publicKey: SSHPublicKey(p256: key.publicKey), isOfEnclave: true, needsApproval: asked != nil,
            protection: control.protection)
    }

    /// Stores a key from ssh-add and its certificate.
    func keep(_ received: [SSHAddedKey], as name: String, _ options: ProtectionOptions) throws -> SSHKeyOfUser {
        guard let key = received.first, received.allSatisfy({ $0.publicKey == key.publicKey }) else {
            throw Refusal(.badParameter, "Unsupported key; use Ed25519, ECDSA, or RSA of 2,048 bits or more")
        }
        let certificate = try received.compactMap(\.certificate).first.map { blob throws(SSHError) in try SSHCertificate(blob: blob) }
        if let stored = try self.key(key.publicKey) {
            throw Refusal(.duplicateItem, "This key is already stored as \(SafeText.visible(stored.name))")
        }
        let (protection, control) = try options.applied(to: .whenUnlocked, nil)
        var record = Self.password(service: SSHItem.importedService, name: name, blob: key.publicKey.blob)
        (record.protection, record.accessControl) = (protection, control)
        record.attributes[.comment] = .text(SafeText.line(key.comment, max: 200))
        try client.add(record, secret: key.fields.duplicate())
        let kept = SSHKeyOfUser(
            name: name, publicKey: key.publicKey, isOfEnclave: false, needsApproval: control != nil, protection: protection)
        if let certificate { try SSHCertificates(client).set(certificate, of: kept) }
        return kept
    }

    /// Deletes the key and everything stored with it under its name.
    func delete(_ name: String) throws {
        var made = SSHItem.ofEnclave
        made.attributes[.label] = .text(name)
        var queries = [made]
        for service in [SSHItem.importedService, SSHItem.certificateService, SSHItem.placesService, SSHItem.holdService] {
            var query = SSHItem.passwords(of: service)
            query.attributes[.account] = .text(name)
            queries.append(query)
        }
        for var query in queries {
            query.returns.remove(.attributes)
            query.authenticationUI = client.user.mayBePrompted || client.user.hasPreparedPasscode ? .allow : .fail
            do { try client.withUnlock { try client.keychain.delete(query) } } catch let refusal as Refusal
                where refusal.reason == .itemNotFound
            {}
        }
    }

    /// Renames a key that was created in the enclave.
    func renameEnclaveKey(_ name: String, to new: String) throws {
        var query = SSHItem.ofEnclave
        query.attributes[.label] = .text(name)
        query.returns.remove(.attributes)
        query.authenticationUI = client.user.mayBePrompted || client.user.hasPreparedPasscode ? .allow : .fail
        let wanted = query
        let changes = ItemChanges(attributes: ItemAttributes([.label: .text(new)]))
        try client.withUnlock { try client.keychain.update(wanted, changes, secret: nil) }
    }

    static func password(service: String, name: String, blob: [UInt8]) -> ItemRecord {
        let attributes: [AttributeName: AttributeValue] = [
            .service: .text(service), .account: .text(name), .generic: .data(blob), .label: .text("\(service)/\(name)"),
            .accessGroup: .text(AccessGroup.commandLine),
        ]
        return ItemRecord(kind: .genericPassword, attributes: ItemAttributes(attributes))
    }
}
