// A device's part of a circle in the form that the enclave stores for the user (Specs/sync.md): the public parts in the clear, the keys
// wrapped by the key for private keys of a class that stays on this device.

import VaubanDER
import VaubanSyncModel

/// The state of a circle on a device, without the keys.
struct CircleBody: Hashable, Sendable, DERReadable, DERWritable {
    /// A member's answer to the one device that it is currently admitting.
    struct Pending: Hashable, Sendable {
        let device: [UInt8]
        let answer: [UInt8]
    }

    /// The number of answers since a device was last admitted, and the time of the last one, in microseconds since the reference date.
    struct Answers: Hashable, Sendable {
        var count: Int64 = 0
        var last: Int64 = 0
    }

    var me: CircleDevice
    /// Nil until this device is in a circle.
    var circle: [UInt8]?
    var number: Int64 = 0
    var digest = [UInt8](repeating: 0, count: 32)
    /// The number of circle keys that this device holds.
    var epoch: Int64 = 0
    var members: [CircleDevice] = []
    var pending: Pending?
    var answers = Answers()
    /// A redeemed token: the one circle and the one member through which this device may enter, and its join request.
    struct Redemption: Hashable, Sendable {
        let circle: [UInt8]
        let sponsor: CircleMember
        let request: [UInt8]
    }

    /// The answer over which this device has revealed its keys. After that, no other answer is accepted.
    var revealedFor: [UInt8]?
    /// The last statement, if this device made it, until this device follows another one.
    var statement: [UInt8]?
    var companions: [CompanionRecord] = []
    /// On a companion, the members. A companion has companion keys instead of circle keys, and has neither the members' encryption keys nor
    /// any list.
    var roster: [CircleMember]?
    /// The unused tokens of this device.
    var tokens: [TokenRecord] = []
    /// The token with which this device waits to be admitted.
    var redemption: Redemption?
    /// The public half of the circle's recovery key, if it has one.
    var recovery: CircleDevice?
    /// On a companion, the verification half of the recovery key, if the circle has one. A companion only verifies its signatures.
    var rosterRecovery: CircleMember?
    /// The members that joined by a recovery key, as recorded by this device.
    var recovered: [[UInt8]] = []
    /// The most recently removed members, as recorded by this device. They no longer answer requests by their tokens, so this device
    /// refuses those.
    var former: [[UInt8]] = []

    init(me: CircleDevice) { self.me = me }

    init(from fields: inout DERFields) throws {
        me = try fields.value("device")
        number = try fields.integer("number", in: 0...CircleRequest.numberMax)
        digest = try fields.octets("digest", in: 32...32)
        epoch = try fields.integer("epoch", in: 0...Int64(CircleRequest.epochsMax))
        members = try fields.list("members", max: CircleRequest.membersMax)
        answers.count = try fields.integer("answers", in: 0...Int64.max)
        answers.last = try fields.integer("last answer", in: Int64.min...Int64.max)
        circle = try fields.optionalOctets(0, "circle", in: 16...16)
        pending = try fields.optional(1, "pending") { pending in
            Pending(
                device: try pending.octets("device", in: 16...16),
                answer: try pending.octets("answer", in: 1...CircleRequest.documentBytesMax))
        }
        revealedFor = try fields.optionalOctets(2, "answer", in: 1...CircleRequest.documentBytesMax)
        statement = try fields.optionalOctets(3, "statement", in: 1...CircleRequest.documentBytesMax)
        companions = try fields.companions(4)
        roster = try fields.optional(5, "roster") { try $0.list("members", max: CircleRequest.membersMax) }
        tokens = try fields.tokens(6)
        redemption = try fields.optional(7, "redemption") { redeemed in
            Redemption(
                circle: try redeemed.octets("circle", in: 16...16), sponsor: try redeemed.value("sponsor"),
                request: try redeemed.octets("request", in: 1...CircleRequest.documentBytesMax))
        }
        recovery = try fields.optional(8, "recovery") { try $0.value("recovery") }
        rosterRecovery = try fields.optional(9, "recovery") { try $0.value("recovery") }
        recovered = try fields.devices(10)
        former = try fields.devices(11, max: CircleRequest.epochsMax)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(me)
            try fields.integer(number)
            try fields.octets(digest)
            try fields.integer(epoch)
            try fields.list(members)
            try fields.integer(answers.count)
            try fields.integer(answers.last)
            try fields.optionalOctets(0, circle)
            if let pending {
                try fields.tagged(1) {
                    try $0.octets(pending.device); try $0.octets(pending.answer)
                }
            }
            try fields.optionalOctets(2, revealedFor)
            try fields.optionalOctets(3, statement)
            try fields.companions(4, companions)
            if let roster { try fields.tagged(5) { try $0.list(roster) } }
            try fields.tokens(6, tokens)
            if let redemption {
                try fields.tagged(7) { redeemed in
                    try redeemed.octets(redemption.circle)
                    try redeemed.value(redemption.sponsor)
                    try redeemed.octets(redemption.request)
                }
            }
            if let recovery { try fields.tagged(8) { try $0.value(recovery) } }
            if let rosterRecovery { try fields.tagged(9) { try $0.value(rosterRecovery) } }
            try fields.devices(10, recovered)
            try fields.devices(11, former)
        }
    }

    var isCompanion: Bool { roster != nil }

    /// The members whose signatures this device accepts.
    var signers: [CircleMember] { roster ?? members.map(\.outside) }

    /// The signer that represents the recovery key, if the circle has one.
    var recoverySigner: CircleMember? { isCompanion ? rosterRecovery : recovery?.outside }

    /// Adds members that were removed to `former`, and removes those that are members again.
    mutating func noteFormer(since before: CircleBody) {
        let members = Set(signers.map(\.device))
        let gone = before.signers.map(\.device).filter { !members.contains($0) }
        former = Array((former.filter { !members.contains($0) && !gone.contains($0) } + gone).suffix(CircleRequest.epochsMax))
    }

    /// Returns a device of the circle, whether a member or a companion.
    func device(_ device: [UInt8]) -> CircleDevice? { (members + companions.map(\.device)).first { $0.device == device } }

    var view: CircleView {
        CircleView(
            device: me.device, circle: circle, number: number, digest: digest, epoch: epoch,
            members: signers, companions: companions.map { CircleCompanion(device: $0.device.outside, names: $0.names) },
            isCompanion: isCompanion, tokens: tokens.map(\.outside), sponsor: redemption?.sponsor,
            hasRecoveryKey: recoverySigner != nil, recovered: recovered)
    }
}

/// `CircleKeybag ::= SEQUENCE { version INTEGER (1), content [0] CircleContent OPTIONAL }`. The content is absent after this device has
/// left its circle.
struct CircleKeybag: DERReadable, DERWritable {
    let content: CircleContent?

    init(_ content: CircleContent?) { self.content = content }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        content = try fields.optional(0, "content") { try $0.value("content", as: CircleContent.self) }
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            if let content { try fields.tagged(0) { try $0.value(content) } }
        }
    }
}

/// `CircleContent ::= SEQUENCE { generation OCTET STRING (SIZE (8)), body OCTET STRING, wrapped OCTET STRING }`
struct CircleContent: Hashable, Sendable, DERReadable, DERWritable {
    static let label = "vauban sync keybag v1"
    /// Enough for the keys of all devices, the lists of companions, and a statement.
    static let bodyBytesMax = 100_000

    /// The generation of the key for private keys that wraps the circle's keys.
    let generation: [UInt8]
    let body: [UInt8]
    let wrapped: [UInt8]

    init(generation: [UInt8], body: [UInt8], wrapped: [UInt8]) {
        self.generation = generation
        self.body = body
        self.wrapped = wrapped
    }

    init(from fields: inout DERFields) throws {
        generation = try fields.octets("generation", in: 8...8)
        body = try fields.octets("body", in: 1...Self.bodyBytesMax)
        wrapped = try fields.octets("wrapped keys", in: 92...4096)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(generation)
            try fields.octets(body)
            try fields.octets(wrapped)
        }
    }
}
