// The documents that devices exchange about a circle (Specs/sync.md). All of them come from a folder that anyone may have written to.

package import VaubanDER
import VaubanSyncModel

/// The public half of a device: its name, the key for encrypting to it, and the key that verifies its signatures.
package struct CircleDevice: Hashable, Sendable, DERReadable, DERWritable {
    static let encapsulationBytes = 1216

    package let device: [UInt8]
    package let name: String
    /// X-Wing: ML-KEM-768 with X25519.
    package let encapsulation: [UInt8]
    /// Ed25519.
    package let verification: [UInt8]

    init(device: [UInt8], name: String, encapsulation: [UInt8], verification: [UInt8]) {
        self.device = device
        self.name = name
        self.encapsulation = encapsulation
        self.verification = verification
    }

    package init(from fields: inout DERFields) throws {
        device = try fields.octets("device", in: CircleRequest.deviceBytes...CircleRequest.deviceBytes)
        name = try fields.text("name", max: CircleRequest.nameBytesMax)
        encapsulation = try fields.octets("encapsulation key", in: Self.encapsulationBytes...Self.encapsulationBytes)
        verification = try fields.octets("verification key", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(device)
            try fields.text(name)
            try fields.octets(encapsulation)
            try fields.octets(verification)
        }
    }

    /// The device in the form that is used outside the enclave, and by companions.
    var outside: CircleMember { CircleMember(device: device, name: name, verification: verification) }
}

/// The first document of a device that requests to join. It fixes the device's keys and nonce before the device receives the member's.
package struct CircleCommitment: DERReadable, DERWritable {
    package let device: [UInt8]
    package let digest: [UInt8]

    init(device: [UInt8], digest: [UInt8]) {
        self.device = device
        self.digest = digest
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        device = try fields.octets("device", in: 16...16)
        digest = try fields.octets("digest", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(device)
            try fields.octets(digest)
        }
    }
}

/// A member's answer to a commitment.
package struct CircleAnswer: DERReadable, DERWritable {
    package let circle: [UInt8]
    /// The digest of the commitment that it answers.
    package let digest: [UInt8]
    package let member: CircleDevice
    package let nonce: [UInt8]

    init(circle: [UInt8], digest: [UInt8], member: CircleDevice, nonce: [UInt8]) {
        self.circle = circle
        self.digest = digest
        self.member = member
        self.nonce = nonce
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        circle = try fields.octets("circle", in: 16...16)
        digest = try fields.octets("digest", in: 32...32)
        member = try fields.value("member")
        nonce = try fields.octets("nonce", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(circle)
            try fields.octets(digest)
            try fields.value(member)
            try fields.octets(nonce)
        }
    }
}

/// A join request: the committed keys and nonce, signed together with the answer.
package struct CircleReveal: DERReadable, DERWritable {
    package let newcomer: CircleDevice
    package let nonce: [UInt8]
    package let signature: [UInt8]

    init(newcomer: CircleDevice, nonce: [UInt8], signature: [UInt8]) {
        self.newcomer = newcomer
        self.nonce = nonce
        self.signature = signature
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        newcomer = try fields.value("newcomer")
        nonce = try fields.octets("nonce", in: 32...32)
        signature = try fields.octets("signature", in: 64...64)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.value(newcomer)
            try fields.octets(nonce)
            try fields.octets(signature)
        }
    }

    /// Returns the codes that the new device and the member show; nil if the answer is to another commitment, or if this is not signed by
    /// the device.
    package func codes(over answer: [UInt8]) -> (newcomer: String, member: String)? {
        guard let device = try? newcomer.encoded(), let answered = try? CircleAnswer(derBytes: answer),
            CircleCodes.commitment(device, nonce: nonce) == answered.digest,
            CircleSignature.reveal.isValid(
                signature, of: CircleCodes.digest(answer) + nonce + device, by: newcomer.verification)
        else { return nil }
        return CircleCodes.codes(answer: answer, newcomer: device, nonce: nonce)
    }
}

/// A signed change of the circle: its members, and its newest key for each of them.
package struct CircleStatement: DERReadable, DERWritable {
    package struct Share: DERReadable, DERWritable {
        package let device: [UInt8]
        package let encapsulated: [UInt8]
        package let sealed: [UInt8]

        init(device: [UInt8], encapsulated: [UInt8], sealed: [UInt8]) {
            self.device = device
            self.encapsulated = encapsulated
            self.sealed = sealed
        }

        package init(from fields: inout DERFields) throws {
            device = try fields.octets("device", in: 16...16)
            encapsulated = try fields.octets("encapsulated key", in: 1120...1120)
            sealed = try fields.octets("sealed key", in: 48...48)
        }

        package func write(into der: inout DERWriter) throws {
            try der.sequence { fields in
                try fields.octets(device)
                try fields.octets(encapsulated)
                try fields.octets(sealed)
            }
        }
    }

    package let circle: [UInt8]
    package let number: Int64
    /// SHA-256 of the previous statement; zeros in the first.
    package let previous: [UInt8]
    package let epoch: Int64
    package let signer: [UInt8]
    package let shares: [Share]
    /// The members, encrypted with the newest key.
    package let members: [UInt8]
    /// The earlier keys, wrapped with the newest; nil in the first epoch.
    package let earlier: [UInt8]?
    /// The parts for the companions.
    let companions: [CompanionPart]
    /// The part for the holder of the recovery key; nil if the circle has none.
    let recovery: RecoveryPart?

    init(
        circle: [UInt8], number: Int64, previous: [UInt8], epoch: Int64, signer: [UInt8], shares: [Share] = [], members: [UInt8] = [],
        earlier: [UInt8]? = nil, companions: [CompanionPart] = [], recovery: RecoveryPart? = nil
    ) {
        self.circle = circle
        self.number = number
        self.previous = previous
        self.epoch = epoch
        self.signer = signer
        self.shares = shares
        self.members = members
        self.earlier = earlier
        self.companions = companions
        self.recovery = recovery
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        circle = try fields.octets("circle", in: 16...16)
        number = try fields.integer("number", in: 1...CircleRequest.numberMax)
        previous = try fields.octets("previous", in: 32...32)
        epoch = try fields.integer("epoch", in: 1...Int64(CircleRequest.epochsMax))
        signer = try fields.octets("signer", in: 16...16)
        shares = try fields.list("shares", max: CircleRequest.membersMax)
        members = try fields.octets("members", in: 29...30_000)
        earlier = try fields.optionalOctets(0, "earlier keys", in: 60...4096)
        companions = try fields.companions(1)
        recovery = try fields.optional(2, "recovery") { try $0.value("recovery") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(circle)
            try fields.integer(number)
            try fields.octets(previous)
            try fields.integer(epoch)
            try fields.octets(signer)
            try fields.list(shares)
            try fields.octets(members)
            try fields.optionalOctets(0, earlier)
            try fields.companions(1, companions)
            if let recovery { try fields.tagged(2) { try $0.value(recovery) } }
        }
    }

    /// The context that its parts are bound to.
    var context: [UInt8] { circle + CircleSecrets.number(number) + CircleSecrets.number(epoch) }
}

/// `SignedStatement ::= SEQUENCE { statement OCTET STRING, signature OCTET STRING (SIZE (64)) }`
package struct SignedStatement: DERReadable, DERWritable {
    package let statement: [UInt8]
    package let signature: [UInt8]

    init(statement: [UInt8], signature: [UInt8]) {
        self.statement = statement
        self.signature = signature
    }

    package init(from fields: inout DERFields) throws {
        statement = try fields.octets("statement", in: 1...CircleRequest.documentBytesMax)
        signature = try fields.octets("signature", in: 64...64)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(statement)
            try fields.octets(signature)
        }
    }

    package func isSigned(by verification: [UInt8]) -> Bool {
        CircleSignature.statement.isValid(signature, of: statement, by: verification)
    }
}
