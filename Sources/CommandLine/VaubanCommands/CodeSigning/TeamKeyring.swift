// The keys with which the user signs programs, among the user's items (Specs/code-signing.md).

import Crypto
import VaubanAccessPolicy
import VaubanCodeSigning
import VaubanDER
import VaubanKeyWire
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

/// A key of the user's, and the team that it identifies.
struct TeamKey {
    let name: String
    let key: EnclaveKey
    /// The SubjectPublicKeyInfo of the key.
    let publicKey: [UInt8]
    let team: TeamIdentifier

    init(name: String, key: EnclaveKey) throws {
        self.name = name
        self.key = key
        publicKey = Array(try P256.Signing.PublicKey(x963Representation: key.publicKey).derRepresentation)
        team = SignedCode.team(of: publicKey)
    }

    var needsApproval: Bool { key.control.flags.contains(.userPresence) }
}

struct TeamKeyring {
    private let client: ServiceClient
    private static let tag = Array("vauban team key".utf8)
    private static let nameBytesMax = 64

    init(_ client: ServiceClient) { self.client = client }

    static func check(name: String) throws {
        guard !name.isEmpty, name.utf8.count <= nameBytesMax, SafeText.line(name, max: nameBytesMax) == name else {
            throw Refusal(.badParameter, "The name of a team must be one line of at most \(nameBytesMax) bytes")
        }
    }

    func keys() throws -> [TeamKey] {
        try client.withUnlock {
            var query = Self.query()
            // The data is not a secret: only the enclave can read the key in it.
            query.returns.insert(.data)
            query.authenticationUI = .skip
            return try client.found(query).compactMap { found in
                guard let record = found.record, let value = found.takeSecret(),
                    let key = try? EnclaveKey(stored: value.withUnsafeBytes { [UInt8]($0) }), key.kind == .p256
                else { return nil }
                return try? TeamKey(name: record.text(.label), key: key)
            }.sorted { $0.name < $1.name }
        }
    }

    /// Returns the key of this name.
    func key(_ name: String) throws -> TeamKey {
        let keys = try keys()
        if let key = keys.first(where: { $0.name == name }) { return key }
        let similar = Similarity.nearest(to: name, among: Set(keys.map(\.name))).map(SafeText.visible)
        guard similar.isEmpty else {
            throw Refusal(.itemNotFound, "No team \(SafeText.visible(name)). Did you mean \(similar.joined(separator: ", or "))?")
        }
        throw Refusal(.itemNotFound, "No team \(SafeText.visible(name)) of yours. To make one: vauban team new \(SafeText.visible(name))")
    }

    /// Creates a key in the enclave.
    func make(_ name: String, _ options: ProtectionOptions) throws -> TeamKey {
        guard try !keys().contains(where: { $0.name == name }) else {
            throw Refusal(.duplicateItem, "You already have a team \(SafeText.visible(name)); choose another name")
        }
        let (protection, asked) = try options.applied(to: .whenUnlockedThisDeviceOnly, nil)
        let flags: AccessControlFlags = asked == nil ? [] : [.privateKeyUsage, .userPresence]
        let control = try AccessControl(protection: protection.onThisDevice, flags: flags)
        let key = try KeyClient(service: client.service).make(.p256, control)
        let attributes = try EnclaveKeyAttributes.of(key, named: name, tag: Self.tag)
        try client.add(
            ItemRecord(kind: .key, attributes: attributes, protection: control.protection), secret: SecretBytes(copying: try key.encoded()))
        return try TeamKey(name: name, key: key)
    }

    func delete(_ name: String) throws {
        var query = Self.query()
        query.attributes[.label] = .text(name)
        query.returns.remove(.attributes)
        query.authenticationUI = client.user.mayBePrompted || client.user.hasPreparedPasscode ? .allow : .fail
        let wanted = query
        try client.withUnlock { try client.keychain.delete(wanted) }
    }

    /// Signs a description of a program. Prompts if the key demands it.
    func sign(_ description: CodeDescription, with key: TeamKey) throws -> SignedCode {
        let described = try description.encoded()
        let digest = Array(SHA256.hash(data: SignedCode.message(for: described)))
        let reason = "sign \(description.identifier) as \(key.name)"
        let raw = try client.withUnlock {
            try client.withPrompts { waiting in
                let outcome = try KeyClient(service: client.service).use(
                    key.key, for: .sign, input: digest, prompting: KeyPrompting(reason: reason), waiting: waiting)
                guard case .signature(let raw) = outcome else { throw Refusal(.internalError) }
                return raw
            }
        }
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        return SignedCode(key: key.publicKey, description: described, signature: Array(signature.derRepresentation))
    }

    private static func query() -> ItemQuery {
        var query = ItemQuery(
            kind: .key,
            attributes: ItemAttributes([
                .applicationTag: .data(tag), .tokenID: .text(EnclaveToken.identifier), .accessGroup: .text(AccessGroup.commandLine),
            ]))
        query.limit = .all
        query.returns.insert(.attributes)
        query.authenticationUI = .describe
        return query
    }
}
