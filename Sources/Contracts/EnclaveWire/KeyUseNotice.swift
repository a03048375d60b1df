// The uses of private keys by applications on their own connections (Specs/access-log.md), as the enclave counts them for keychaind.

package import VaubanDER

/// What a private key was used for.
package enum KeyUseAction: Int64, Hashable, Sendable, CaseIterable {
    case signed = 1
    /// Decrypted something, or agreed on a key.
    case decrypted = 2
}

/// The outcome of a use.
package enum KeyUseOutcome: Int64, Hashable, Sendable, CaseIterable {
    case done = 1
    /// Done after a prompt, or with what an earlier prompt allowed.
    case approved = 2
    case refused = 3
    case notApproved = 4
}

/// Equal uses of one key.
///
/// `CountedKeyUse ::= SEQUENCE { key [0] UsedKey OPTIONAL, action INTEGER (1..2), outcome INTEGER (1..4),
///   count INTEGER (1..4294967296) }`
package struct CountedKeyUse: Hashable, Sendable, DERReadable, DERWritable {
    package static let countMax: Int64 = 1 << 32

    /// The key; nil for keys beyond the number that is distinguished.
    package let key: UsedKey?
    package let action: KeyUseAction
    package let outcome: KeyUseOutcome
    package let count: Int64

    package init(key: UsedKey?, action: KeyUseAction, outcome: KeyUseOutcome, count: Int64) {
        self.key = key
        self.action = action
        self.outcome = outcome
        self.count = count
    }

    package init(from fields: inout DERFields) throws {
        key = try fields.optional(0, "key") { try $0.value("key", as: UsedKey.self) }
        guard let action = KeyUseAction(rawValue: try fields.integer("action", in: 1...255)),
            let outcome = KeyUseOutcome(rawValue: try fields.integer("outcome", in: 1...255))
        else { throw DERError("action or outcome is unknown") }
        self.action = action
        self.outcome = outcome
        count = try fields.integer("count", in: 1...Self.countMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            if let key { try fields.tagged(0) { try $0.value(key) } }
            try fields.integer(action.rawValue)
            try fields.integer(outcome.rawValue)
            try fields.integer(count)
        }
    }
}

/// A private key, identified by values that keychaind and the key's owner can compute.
///
/// `UsedKey ::= SEQUENCE { digest OCTET STRING (SIZE (32)), label OCTET STRING (SIZE (20)) }`
package struct UsedKey: Hashable, Sendable, DERReadable, DERWritable {
    /// SHA-256 of the whole `EnclaveKey`, which is the value of the key's item.
    package let digest: [UInt8]
    /// SHA-1 of the public key: Apple's `kSecAttrApplicationLabel`.
    package let label: [UInt8]

    package init(digest: [UInt8], label: [UInt8]) {
        self.digest = digest
        self.label = label
    }

    package init(from fields: inout DERFields) throws {
        digest = try fields.octets("digest", in: 32...32)
        label = try fields.octets("label", in: 20...20)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(digest)
            try fields.octets(label)
        }
    }
}

/// Enclave to keychaind, on the lease connection: what a program did with private keys since the last notice. keychaind confirms it.
///
/// `KeyUseNotice ::= SEQUENCE { version INTEGER (2), user INTEGER, identity [0] CallerIdentity OPTIONAL, teamIsTrusted BOOLEAN, unrecorded
/// INTEGER (0..4294967296), uses SEQUENCE (SIZE (0..32)) OF CountedKeyUse }`; the version distinguishes it from a `LeaseRecall`.
package struct KeyUseNotice: Hashable, Sendable, DERReadable, DERWritable {
    package static let usesMax = 32

    package let user: UInt32
    /// The program; nil where programs are not distinguished.
    package let identity: CallerIdentity?
    /// Whether the user trusts the team that signed the program.
    package let teamIsTrusted: Bool
    /// Uses by any program that are not counted elsewhere.
    package let unrecorded: Int64
    package let uses: [CountedKeyUse]

    package init(user: UInt32, identity: CallerIdentity?, teamIsTrusted: Bool, unrecorded: Int64 = 0, uses: [CountedKeyUse]) {
        self.user = user
        self.identity = identity
        self.teamIsTrusted = teamIsTrusted
        self.unrecorded = unrecorded
        self.uses = uses
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(2)
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        identity = try fields.optional(0, "identity") { try $0.value("identity", as: CallerIdentity.self) }
        teamIsTrusted = try fields.boolean("team is trusted")
        unrecorded = try fields.integer("unrecorded", in: 0...CountedKeyUse.countMax)
        uses = try fields.list("uses", max: Self.usesMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(2)
            try fields.integer(Int64(user))
            if let identity { try fields.tagged(0) { try $0.value(identity) } }
            try fields.boolean(teamIsTrusted)
            try fields.integer(unrecorded)
            try fields.list(uses)
        }
    }
}

/// keychaind to enclave: the last notice about private keys is noted. `KeyUsesNoted ::= SEQUENCE { version INTEGER (2) }`
package struct KeyUsesNoted: Hashable, Sendable, DERReadable, DERWritable {
    package init() {}
    package init(from fields: inout DERFields) throws { try fields.version(2) }
    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.integer(2) } }
}
