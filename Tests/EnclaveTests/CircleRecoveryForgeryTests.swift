// What the holder of a circle's recovery key may state: that one device is admitted, and nothing else. This is a second implementation of
// statements, by the rules of Specs/sync.md.

import Crypto
import Enclave
import Foundation
import TestSupport
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

@Suite("What a recovery key may state")
struct CircleRecoveryForgeryTests {
    private typealias Device = CircleTests.Device

    @Test("Members follow a statement by the recovery key only if it admits one device, ends the key, and makes a new circle key")
    func limits() throws {
        let (desk, laptop) = (try Device(), try Device())
        try desk.perform(.begin(name: "desk"))
        let answer = try desk.document(.answer(commitment: try laptop.document(.apply(name: "laptop"))))
        let revealed = try laptop.perform(.reveal(answer: answer))
        let approved = try desk.perform(.approve(reveal: try #require(revealed.document), code: try #require(revealed.code)))
        try laptop.perform(.enter(statement: try #require(approved.document), code: try #require(approved.code)))
        let made = try desk.vault.circle(.makeRecoveryKey, isApproved: true)
        let confirmed = try desk.vault.circle(.confirmRecoveryKey, isApproved: false, recoveryKey: made.recoveryKey)
        let statement = try #require(confirmed.reply.document)
        try laptop.perform(.follow(statement: statement))

        let holder = try Holder(statement, try #require(made.recoveryKey).bytes)
        let (new, other) = (try PublicDevice.made("new"), try PublicDevice.made("other"))
        let all = holder.members
        let refused: [(String, [UInt8])] = [
            ("removes a device", try holder.statement(of: [all[0], new])), ("replaces all", try holder.statement(of: [new])),
            ("admits two", try holder.statement(of: all + [new, other])), ("admits none", try holder.statement(of: all)),
            ("puts the device first", try holder.statement(of: [new] + all)),
            ("keeps the circle key", try holder.statement(of: all + [new], rolls: false)),
            ("keeps itself", try holder.statement(of: all + [new], keepsKey: true)),
            ("admits itself", try holder.statement(of: all + [holder.device])),
            ("keys that nobody can use", try holder.statement(of: all + [try PublicDevice.made("bad", isUsable: false)], shares: all)),
            ("signs as a member", try holder.statement(of: all + [new], signer: all[0].device)),
        ]
        for (what, forged) in refused {
            for member in [desk, laptop] { #expect(refusal { try member.perform(.follow(statement: forged)) } != nil, "\(what)") }
        }
        let honest = try holder.statement(of: all + [new])
        for member in [desk, laptop] {
            try member.perform(.follow(statement: honest))
            #expect(try member.view.members.map(\.name) == ["desk", "laptop", "new"] && !member.view.hasRecoveryKey)
        }
        // The key can sign nothing after that.
        #expect(refusal { try desk.perform(.follow(statement: try holder.statement(of: all + [new, other]))) } != nil)
    }
}

/// A device, as others know it.
private struct PublicDevice: DERReadable, DERWritable {
    let device: [UInt8]
    let name: String
    let encapsulation: [UInt8]
    let verification: [UInt8]

    init(device: [UInt8], name: String, encapsulation: [UInt8], verification: [UInt8]) {
        (self.device, self.name, self.encapsulation, self.verification) = (device, name, encapsulation, verification)
    }

    static func made(_ name: String, isUsable: Bool = true) throws -> PublicDevice {
        let key = Array(try XWingMLKEM768X25519.PrivateKey.generate().publicKey.rawRepresentation)
        return PublicDevice(
            device: (0..<16).map { _ in UInt8.random(in: 0...255) }, name: name,
            encapsulation: isUsable ? key : [UInt8](repeating: 0xFF, count: 1216),
            verification: Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation))
    }

    init(from fields: inout DERFields) throws {
        device = try fields.octets("device", in: 16...16)
        name = try fields.text("name", max: 64)
        encapsulation = try fields.octets("encapsulation", in: 1216...1216)
        verification = try fields.octets("verification", in: 32...32)
    }

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(device)
            try fields.text(name)
            try fields.octets(encapsulation)
            try fields.octets(verification)
        }
    }
}

private struct PublicShare: DERReadable {
    let device: [UInt8]
    let encapsulated: [UInt8]
    let sealed: [UInt8]

    init(from fields: inout DERFields) throws {
        device = try fields.octets("device", in: 16...16)
        encapsulated = try fields.octets("encapsulated", in: 1120...1120)
        sealed = try fields.octets("sealed", in: 48...48)
    }
}

/// A signed statement of the first epoch, without companions, that makes a recovery key.
private struct Making: DERReadable {
    let circle: [UInt8]
    let number: Int64
    let members: [UInt8]
    let share: PublicShare

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        circle = try fields.octets("circle", in: 16...16)
        number = try fields.integer("number", in: 1...100)
        _ = try fields.octets("previous", in: 32...32)
        _ = try fields.integer("epoch", in: 1...1)
        _ = try fields.octets("signer", in: 16...16)
        let _: [PublicShare] = try fields.list("shares", max: 10)
        members = try fields.octets("members", in: 1...30_000)
        let share: PublicShare? = try fields.optional(2, "recovery") { part in
            try part.value("recovery", as: Part.self).share
        }
        guard let share else { throw DERError("recovery is missing") }
        self.share = share
    }

    struct Part: DERReadable {
        let share: PublicShare
        init(from fields: inout DERFields) throws {
            share = try fields.value("share")
            _ = try fields.optionalOctets(0, "proof", in: 64...64)
        }
    }

    struct Signed: DERReadable {
        let statement: [UInt8]
        init(from fields: inout DERFields) throws {
            statement = try fields.octets("statement", in: 1...50_000)
            _ = try fields.octets("signature", in: 64...64)
        }
    }

    struct Members: DERReadable {
        let list: [PublicDevice]
        let recovery: PublicDevice?
        init(from fields: inout DERFields) throws {
            list = try fields.list("members", max: 10)
            recovery = try fields.optional(1, "recovery") { try $0.value("recovery", as: PublicDevice.self) }
        }
    }
}

/// The holder of a recovery key and of the statement that made it.
private struct Holder {
    let device: PublicDevice
    let members: [PublicDevice]
    private let signing: Curve25519.Signing.PrivateKey
    private let circle: [UInt8]
    private let number: Int64
    private let digest: [UInt8]
    private let first: [UInt8]

    init(_ signed: [UInt8], _ key: borrowing SecretBytes) throws {
        let made = try Making(derBytes: try Making.Signed(derBytes: signed).statement)
        signing = try Curve25519.Signing.PrivateKey(rawRepresentation: Self.derived("signing", from: key, in: made.circle))
        let seed = try XWingMLKEM768X25519.PrivateKey(
            seedRepresentation: Self.derived("encapsulation", from: key, in: made.circle), publicKey: nil)
        let identifier = Array(Self.derived("identifier", from: key, in: made.circle).prefix(16))
        device = PublicDevice(
            device: identifier, name: "", encapsulation: Array(seed.publicKey.rawRepresentation),
            verification: Array(signing.publicKey.rawRepresentation))
        let context = Self.context(made.circle, made.number, epoch: 1)
        var recipient = try HPKE.Recipient(
            privateKey: seed, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256,
            info: Data(Array("vauban sync recovery share v1".utf8) + [0] + context + identifier),
            encapsulatedKey: Data(made.share.encapsulated))
        first = Array(try recipient.open(made.share.sealed))
        let list = try KeyWrap.unwrap(made.members, under: SecretBytes(copying: first), label: "vauban sync members v1", context: context)
        let known = try Making.Members(derBytes: list.withUnsafeBytes { Array($0) })
        members = known.list
        guard known.recovery?.verification == device.verification else { throw DERError("another recovery key") }
        (circle, number, digest) = (made.circle, made.number, Array(SHA256.hash(data: signed)))
    }

    private static func derived(_ what: String, from key: borrowing SecretBytes, in circle: [UInt8]) -> [UInt8] {
        KeyWrap.derive(from: key, label: "vauban sync recovery \(what) v1", context: circle).withUnsafeBytes { Array($0) }
    }

    private static func context(_ circle: [UInt8], _ number: Int64, epoch: Int64) -> [UInt8] {
        circle + [number, epoch].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    }

    /// Returns the next statement, with these members.
    func statement(
        of members: [PublicDevice], rolls: Bool = true, keepsKey: Bool = false, signer: [UInt8]? = nil, shares: [PublicDevice]? = nil
    ) throws -> [UInt8] {
        let epoch: Int64 = rolls ? 2 : 1
        let key = rolls ? [UInt8](repeating: 7, count: 32) : first
        let context = Self.context(circle, number + 1, epoch: epoch)
        var list = DERWriter()
        try list.sequence { fields in
            try fields.list(members)
            if keepsKey { try fields.tagged(1) { try $0.value(device) } }
        }
        let wrapped = try KeyWrap.wrap(
            SecretBytes(copying: list.bytes), under: SecretBytes(copying: key), label: "vauban sync members v1", context: context)
        let earlier = try KeyWrap.wrap(
            SecretBytes(copying: first), under: SecretBytes(copying: key), label: "vauban sync earlier keys v1", context: context)
        var statement = DERWriter()
        try statement.sequence { fields in
            try fields.integer(1)
            try fields.octets(circle)
            try fields.integer(number + 1)
            try fields.octets(digest)
            try fields.integer(epoch)
            try fields.octets(signer ?? device.device)
            try fields.sequence { all in
                for member in shares ?? members {
                    try Self.share(key, with: member, label: "vauban sync share v1", context: context, into: &all)
                }
            }
            try fields.octets(wrapped)
            if rolls { try fields.optionalOctets(0, earlier) }
            if keepsKey {
                try fields.tagged(2) { part in
                    try part.sequence {
                        try Self.share(key, with: device, label: "vauban sync recovery share v1", context: context, into: &$0)
                    }
                }
            }
        }
        var signed = DERWriter()
        try signed.sequence { fields in
            try fields.octets(statement.bytes)
            try fields.octets(Array(try signing.signature(for: Array("vauban sync statement v1".utf8) + [0] + statement.bytes)))
        }
        return signed.bytes
    }

    private static func share(
        _ key: [UInt8], with member: PublicDevice, label: String, context: [UInt8], into der: inout DERWriter
    ) throws {
        let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: member.encapsulation)
        var sender = try HPKE.Sender(
            recipientKey: recipient, ciphersuite: .XWingMLKEM768X25519_SHA256_AES_GCM_256,
            info: Data(Array(label.utf8) + [0] + context + member.device))
        let sealed = try sender.seal(key)
        try der.sequence { fields in
            try fields.octets(member.device)
            try fields.octets(Array(sender.encapsulatedKey))
            try fields.octets(Array(sealed))
        }
    }
}
