// A device's part of a circle, as it is stored outside the enclave (Specs/sync.md): the public parts in the clear and authenticated, the
// keys wrapped by the key for private keys of a class that stays on this device.

import SwiftASN1
import VaubanDER
import VaubanSyncModel

/// What a device knows of its circle besides keys.
struct CircleBody: Hashable, Sendable, DERReadable, DERWritable {
    /// A member's answer to the one device that it is about to admit.
    struct Pending: Hashable, Sendable {
        let device: [UInt8]
        let answer: [UInt8]
    }

    var me: CircleDevice
    /// Nil until this device is in a circle.
    var circle: [UInt8]?
    var number: Int64 = 0
    var digest = [UInt8](repeating: 0, count: 32)
    /// The number of circle keys that are held.
    var epoch: Int64 = 0
    var members: [CircleDevice] = []
    var pending: Pending?
    /// The answer over which this device has revealed its keys: no other counts from then on.
    var revealedFor: [UInt8]?

    init(me: CircleDevice) { self.me = me }

    init(from fields: inout DERFields) throws {
        me = try fields.value("device")
        number = try fields.integer("number", in: 0...Int64.max)
        digest = try fields.octets("digest", in: 32...32)
        epoch = try fields.integer("epoch", in: 0...Int64(CircleRequest.epochsMax))
        members = try fields.list("members", max: CircleRequest.membersMax)
        circle = try fields.optionalOctets(0, "circle", in: 16...16)
        pending = try fields.optional(1, "pending") { pending in
            Pending(
                device: try pending.octets("device", in: 16...16),
                answer: try pending.octets("answer", in: 1...CircleRequest.documentBytesMax))
        }
        revealedFor = try fields.optionalOctets(2, "answer", in: 1...CircleRequest.documentBytesMax)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.value(me)
            try fields.integer(number)
            try fields.octets(digest)
            try fields.integer(epoch)
            try fields.list(members)
            try fields.optionalOctets(0, circle)
            if let pending {
                try fields.tagged(1) {
                    try $0.octets(pending.device); try $0.octets(pending.answer)
                }
            }
            try fields.optionalOctets(2, revealedFor)
        }
    }

    var view: CircleView {
        CircleView(
            device: me.device, circle: circle, number: number, digest: digest, epoch: epoch,
            members: members.map { CircleMember(device: $0.device, name: $0.name, verification: $0.verification) })
    }
}

/// `CircleKeybag ::= SEQUENCE { version INTEGER (1), generation OCTET STRING (SIZE (8)), body OCTET STRING, wrapped OCTET STRING }`
struct CircleKeybag: DERReadable, DERWritable {
    static let label = "vauban sync keybag v1"

    /// The key for private keys that wraps it.
    let generation: [UInt8]
    let body: [UInt8]
    let wrapped: [UInt8]

    init(generation: [UInt8], body: [UInt8], wrapped: [UInt8]) {
        self.generation = generation
        self.body = body
        self.wrapped = wrapped
    }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        generation = try fields.octets("generation", in: 8...8)
        body = try fields.octets("body", in: 1...CircleRequest.keybagBytesMax)
        wrapped = try fields.octets("wrapped keys", in: 92...4096)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.octets(generation)
            try fields.octets(body)
            try fields.octets(wrapped)
        }
    }
}
