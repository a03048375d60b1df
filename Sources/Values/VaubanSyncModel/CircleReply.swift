package import VaubanDER

/// A member of a circle, as visible outside the enclave.
package struct CircleMember: Hashable, Sendable, DERReadable, DERWritable {
    package let device: [UInt8]
    package let name: String
    /// The Ed25519 key that verifies its files.
    package let verification: [UInt8]

    package init(device: [UInt8], name: String, verification: [UInt8]) {
        self.device = device
        self.name = name
        self.verification = verification
    }

    package init(from fields: inout DERFields) throws {
        device = try fields.octets("device", in: 16...16)
        name = try fields.text("name", max: CircleRequest.nameBytesMax)
        verification = try fields.octets("verification key", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(device)
            try fields.text(name)
            try fields.octets(verification)
        }
    }
}

/// A circle, as visible outside the enclave.
package struct CircleView: Hashable, Sendable {
    /// This device.
    package let device: [UInt8]
    /// The circle; nil while this device requests to join one.
    package let circle: [UInt8]?
    /// The number and SHA-256 of the last statement that was followed.
    package let number: Int64
    package let digest: [UInt8]
    /// The number of circle keys. Files are written under the last one.
    package let epoch: Int64
    package let members: [CircleMember]
    /// The companions and their lists; empty on a companion.
    package let companions: [CircleCompanion]
    /// Whether this device is a companion.
    package let isCompanion: Bool
    /// The unused tokens that this device made.
    package let tokens: [OpenToken]
    /// The member by whose token this device waits to be admitted.
    package let sponsor: CircleMember?
    package let hasRecoveryKey: Bool
    /// The members that joined by a recovery key, as far as this device has followed the statements.
    package let recovered: [[UInt8]]

    package init(
        device: [UInt8], circle: [UInt8]?, number: Int64, digest: [UInt8], epoch: Int64, members: [CircleMember],
        companions: [CircleCompanion] = [], isCompanion: Bool = false, tokens: [OpenToken] = [], sponsor: CircleMember? = nil,
        hasRecoveryKey: Bool = false, recovered: [[UInt8]] = []
    ) {
        self.device = device
        self.circle = circle
        self.number = number
        self.digest = digest
        self.epoch = epoch
        self.members = members
        self.companions = companions
        self.isCompanion = isCompanion
        self.tokens = tokens
        self.sponsor = sponsor
        self.hasRecoveryKey = hasRecoveryKey
        self.recovered = recovered
    }

    /// The view after this device has left its circle.
    package static let none = CircleView(
        device: [UInt8](repeating: 0, count: CircleRequest.deviceBytes), circle: nil, number: 0,
        digest: [UInt8](repeating: 0, count: CircleRequest.digestBytes), epoch: 0, members: [])
}

extension CircleView: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        device = try fields.octets("device", in: 16...16)
        number = try fields.integer("number", in: 0...CircleRequest.numberMax)
        digest = try fields.octets("digest", in: 32...32)
        epoch = try fields.integer("epoch", in: 0...Int64(CircleRequest.epochsMax))
        members = try fields.list("members", max: CircleRequest.membersMax)
        circle = try fields.optionalOctets(0, "circle", in: 16...16)
        companions = try fields.companions(1)
        isCompanion = try fields.optional(2, "is companion") { _ in true } ?? false
        tokens = try fields.tokens(3)
        sponsor = try fields.optional(4, "sponsor") { try $0.value("sponsor") }
        hasRecoveryKey = try fields.optional(5, "has recovery key") { _ in true } ?? false
        recovered = try fields.devices(6)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(device)
            try fields.integer(number)
            try fields.octets(digest)
            try fields.integer(epoch)
            try fields.list(members)
            try fields.optionalOctets(0, circle)
            try fields.companions(1, companions)
            if isCompanion { fields.tagged(2) { _ in } }
            try fields.tokens(3, tokens)
            if let sponsor { try fields.tagged(4) { try $0.value(sponsor) } }
            if hasRecoveryKey { fields.tagged(5) { _ in } }
            try fields.devices(6, recovered)
        }
    }
}

extension DERFields {
    /// Reads at least one device identifier under a context tag; empty if there is no such tag.
    package mutating func devices(_ number: UInt, max: Int = CircleRequest.membersMax) throws -> [[UInt8]] {
        try optional(number, "devices") { list in
            var all: [[UInt8]] = []
            repeat {
                guard all.count < max else { throw DERError("devices are too many") }
                all.append(try list.octets("device", in: CircleRequest.deviceBytes...CircleRequest.deviceBytes))
            } while !list.isEmpty
            return all
        } ?? []
    }

    /// Reads at least one companion under a context tag; empty if there is no such tag.
    package mutating func companions<Value: DERReadable>(_ number: UInt) throws -> [Value] {
        try optional(number, "companions") { list in
            var all: [Value] = []
            repeat {
                guard all.count < CircleRequest.companionsMax else { throw DERError("companions are too many") }
                all.append(try list.value("companion"))
            } while !list.isEmpty
            return all
        } ?? []
    }
}

extension DERWriter {
    package mutating func companions(_ number: UInt, _ companions: [some DERWritable]) throws {
        guard !companions.isEmpty else { return }
        try tagged(number) { list in for companion in companions { try list.value(companion) } }
    }

    package mutating func devices(_ number: UInt, _ devices: [[UInt8]]) throws {
        guard !devices.isEmpty else { return }
        try tagged(number) { list in for device in devices { try list.octets(device) } }
    }
}

/// The reply to a request about a circle.
///
/// `CircleReply ::= SEQUENCE { view CircleView, document [0] OCTET STRING OPTIONAL, code [1] UTF8String OPTIONAL }`
package struct CircleReply: Hashable, Sendable, DERReadable, DERWritable {
    package let view: CircleView
    /// A commitment, an answer, a join request, a statement, a signature, or a token without its secret.
    package let document: [UInt8]?
    /// The code to show to the user, who types it on the other device.
    package let code: String?

    package init(_ view: CircleView, document: [UInt8]? = nil, code: String? = nil) {
        self.view = view
        self.document = document
        self.code = code
    }

    package init(from fields: inout DERFields) throws {
        view = try fields.value("view")
        document = try fields.optionalOctets(0, "document", in: 1...CircleRequest.documentBytesMax)
        code = try fields.optionalText(1, "code", max: CircleRequest.codeBytesMax)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(view)
            try fields.optionalOctets(0, document)
            try fields.optionalText(1, code)
        }
    }
}
