// Joining by a token inside the enclave: which device is admitted, how often and until when, and what a thief of a used token, a carrier,
// and a restored state can do (Specs/sync.md, "Joining by a token").

import Crypto
import Enclave
import Foundation
import TestSupport
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

@Suite("Joining by a token")
struct JoinTokenTests {
    private typealias Device = CircleTests.Device

    /// A token as its user has it.
    private struct Token {
        let bytes: [UInt8]
        let seed: TokenSeed
        let content: JoinToken
    }

    private static let hour: Int64 = 3600
    private static let names = BlindedNames([[UInt8](repeating: 0xA1, count: 16), [UInt8](repeating: 0xB2, count: 16)]) ?? .empty

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? { refusal(body)?.reason }

    private func member() throws -> Device {
        let member = try Device()
        try member.perform(.begin(name: "desk"))
        return member
    }

    private func make(
        by member: Device, named name: String = "ci", seconds: Int64 = hour, receiving names: BlindedNames = names
    ) throws -> Token {
        let made = try member.vault.circle(.makeToken(name: name, seconds: seconds, names, shown: ""), isApproved: true)
        let bytes = try #require(made.reply.document)
        return Token(bytes: bytes, seed: try #require(made.seed), content: try JoinToken(derBytes: bytes))
    }

    /// Returns the join request.
    private func redeem(_ token: Token, on device: Device) throws -> [UInt8] {
        let seed: SecretBytes? = token.seed.bytes.duplicate()
        return try #require(try device.vault.circle(.redeem(token: token.bytes), isApproved: true, secret: seed).reply.document)
    }

    /// Admits without the user's approval.
    private func admit(_ request: [UInt8], by member: Device) throws -> CircleReply {
        try member.vault.circle(.admitByToken(request: request), isApproved: false).reply
    }

    private func enter(_ statement: [UInt8], on device: Device) throws -> CircleView {
        try device.vault.circle(.enterByToken(statement: statement), isApproved: false).reply.view
    }

    @Test("The first device with a token becomes a companion with exactly the approved list, without a prompt")
    func admitsOnce() throws {
        let (member, server) = (try member(), try Device())
        let unapproved = CircleRequest.makeToken(name: "ci", seconds: Self.hour, Self.names, shown: "")
        #expect(reason { _ = try member.vault.circle(unapproved, isApproved: false) } == .cancelled)
        let token = try make(by: member)
        #expect(try member.view.tokens.map(\.name) == ["ci"] && member.view.tokens.map(\.itemCount) == [2])
        let seed: SecretBytes? = token.seed.bytes.duplicate()
        #expect(reason { _ = try server.vault.circle(.redeem(token: token.bytes), isApproved: false, secret: seed) } == .cancelled)
        let request = try redeem(token, on: server)
        #expect(try server.view.sponsor?.name == "desk" && server.view.circle == nil)
        // The request may not have reached the folder, so it is returned again, even after a restart.
        let restarted = server.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        #expect(try restarted.circle(.view, isApproved: false).reply.document == request)
        let admitted = try admit(request, by: member)
        let view = try enter(try #require(admitted.document), on: server)
        #expect(view.isCompanion && view.members.map(\.name) == ["desk"] && view.sponsor == nil)
        let companion = try #require(try member.view.companions.first)
        #expect(companion.device.name == "ci" && companion.names == Self.names && companion.device.device == view.device)
        #expect(try member.view.tokens.isEmpty)
        _ = try server.open()
        #expect(try server.perform(.view).document == nil)
    }

    @Test("A used token admits no other device, nor the first one again after it was removed, even after a restart")
    func usedTwice() throws {
        let (member, server, thief) = (try member(), try Device(), try Device())
        let token = try make(by: member)
        let (request, stolen) = (try redeem(token, on: server), try redeem(token, on: thief))
        let statement = try #require(try admit(request, by: member).document)
        #expect(reason { _ = try admit(stolen, by: member) } == .notAllowedHere)
        #expect(reason { _ = try enter(statement, on: thief) } == .notAllowedHere)
        // A request that the carrier replays changes nothing.
        let before = try member.view
        #expect(try admit(request, by: member).document == nil)
        #expect(try member.view == before)
        _ = try enter(statement, on: server)
        let removal = try member.document(.remove(device: try server.view.device))
        #expect(reason { try server.perform(.follow(statement: removal)) } == .notAllowedHere)
        #expect(try member.view.epoch == 2 && member.view.companions.isEmpty)
        let restarted = member.bench.start()
        try restarted.unlock(secret(Workbench.passcode))
        for replayed in [request, stolen] {
            #expect(reason { _ = try restarted.circle(.admitByToken(request: replayed), isApproved: false) } == .notAllowedHere)
        }
    }

    @Test("A token expires, stays expired if the clock is set back, and is not valid before it was made") func expired() throws {
        let (member, server) = (try member(), try Device())
        let clock = member.bench.clock
        let start: Int64 = 700_000_000_000_000
        clock.setWall(microseconds: start)
        let token = try make(by: member)
        #expect(token.content.expires == start + Self.hour * 1_000_000)
        let request = try redeem(token, on: server)
        clock.setWall(microseconds: start - 1)
        #expect(reason { _ = try admit(request, by: member) } == .unavailable)
        #expect(try member.view.tokens.count == 1)
        clock.setWall(microseconds: token.content.expires)
        #expect(refusal { _ = try admit(request, by: member) } == Refusal(.notAllowedHere, "The token has expired"))
        clock.setWall(microseconds: start + 1)
        #expect(reason { _ = try admit(request, by: member) } == .notAllowedHere)
        #expect(try member.view.companions.isEmpty && member.view.tokens.isEmpty)
        let again = try make(by: member)
        clock.setWall(microseconds: again.content.expires - 1)
        try server.perform(.leave)
        #expect(try admit(try redeem(again, on: server), by: member).document != nil)
    }

    @Test("A withdrawn token admits no device") func revoked() throws {
        let (member, server) = (try member(), try Device())
        let (token, other) = (try make(by: member), try make(by: member, named: "other"))
        let request = try redeem(token, on: server)
        try member.perform(.revokeToken(verification: token.content.verification))
        #expect(reason { try member.perform(.revokeToken(verification: token.content.verification)) } == .badParameter)
        #expect(reason { _ = try admit(request, by: member) } == .notAllowedHere)
        #expect(try member.view.tokens.map(\.verification) == [other.content.verification])
    }

    @Test("A request without the token's key, for other keys, under another name, or altered is refused and does not use up the token")
    func wrongProof() throws {
        let (member, server) = (try member(), try Device())
        let (token, other) = (try make(by: member), try make(by: member, named: "other"))
        let wrong: SecretBytes? = other.seed.bytes.duplicate()
        #expect(reason { _ = try server.vault.circle(.redeem(token: token.bytes), isApproved: true, secret: wrong) } == .badParameter)
        #expect(reason { _ = try server.vault.circle(.redeem(token: token.bytes), isApproved: true) } == .badParameter)
        let request = try redeem(token, on: server)
        for place in stride(from: 0, to: request.count, by: 37) {
            var altered = request
            altered[place] ^= 1
            #expect(refusal { _ = try admit(altered, by: member) } != nil)
        }
        // By the rules of the specification, written a second time here.
        let own = Forged(token.content, seed: token.seed)
        let key = Curve25519.Signing.PrivateKey()
        let forged = [
            own.request(seed: Array(key.rawRepresentation)), own.request(circle: [UInt8](repeating: 7, count: 16)),
            own.request(label: "vauban sync reveal v1"), own.request(name: "other"),
            own.request(encapsulation: [UInt8](repeating: 0xFF, count: 1216)), own.request(device: try member.view.device),
        ]
        for request in forged { #expect(reason { _ = try admit(try request.get(), by: member) } == .badParameter) }
        #expect(reason { _ = try admit([1, 2, 3], by: member) } == .badParameter)
        #expect(try member.view.companions.isEmpty && member.view.tokens.count == 2)
        #expect(try admit(request, by: member).document != nil)
    }

    @Test("A member whose state of a token was altered admits no device with it") func alteredList() throws {
        let (member, server) = (try member(), try Device())
        let request = try redeem(try make(by: member), on: server)
        let file = "\(Workbench.user)/circle"
        let stored = try #require(member.bench.store.files[file])
        let listed = try #require(Self.names.all.first)
        let place = try #require(stored.indices.first { stored[$0...].starts(with: listed) })
        member.bench.store.files[file]?[place] ^= 1
        #expect(reason { _ = try admit(request, by: member) } == .stateUnreadable)
        member.bench.store.files[file] = stored
        #expect(try admit(request, by: member).view.companions.first?.names == Self.names)
    }

    @Test("Only the member that made a token admits a device with it, and the device follows no other statement")
    func onlyItsMaker() throws {
        let (member, second, server) = (try member(), try Device(), try Device())
        let answer = try member.document(.answer(commitment: try second.document(.apply(name: "laptop"))))
        let revealed = try second.perform(.reveal(answer: answer))
        let approved = try member.perform(
            .approve(reveal: try #require(revealed.document), code: try #require(revealed.code)))
        let joined = try #require(approved.document)
        try second.perform(.enter(statement: joined, code: try #require(approved.code)))
        let token = try make(by: member)
        let request = try redeem(token, on: server)
        #expect(reason { _ = try admit(request, by: second) } == .itemNotFound)
        #expect(try second.view.tokens.isEmpty)
        let statement = try #require(try admit(request, by: member).document)
        try second.perform(.follow(statement: statement))
        // A statement of the other member, an earlier one, and one of a circle of another device.
        let foreign = try second.document(.allow(device: try server.view.device, .empty, shown: ""))
        #expect(reason { _ = try enter(foreign, on: server) } == .badParameter)
        #expect(reason { _ = try enter(joined, on: server) } == .notAllowedHere)
        let stranger = try self.member()
        #expect(reason { _ = try enter(try stranger.document(.view), on: server) } == .badParameter)
        for place in stride(from: 8, to: statement.count, by: 601) {
            var altered = statement
            altered[place] ^= 1
            #expect(refusal { _ = try enter(altered, on: server) } != nil)
        }
        #expect(try enter(statement, on: server).isCompanion)
        try server.perform(.follow(statement: foreign))
    }

    @Test("A used token stays used in a restored state, and one whose use could not be stored stays valid")
    func restoredState() throws {
        let (member, server, thief) = (try member(), try Device(), try Device())
        let token = try make(by: member)
        let (request, stolen) = (try redeem(token, on: server), try redeem(token, on: thief))
        member.bench.store.fail(.circle, with: .full)
        #expect(reason { _ = try admit(request, by: member) } == .storageFull)
        member.bench.store.fail(.circle, with: nil)
        #expect(try member.view.tokens.count == 1 && member.view.companions.isEmpty)
        let file = "\(Workbench.user)/circle"
        let earlier = try #require(member.bench.store.files[file])
        let statement = try #require(try admit(request, by: member).document)
        member.bench.store.files[file] = earlier
        try member.perform(.follow(statement: statement))
        #expect(try member.view.tokens.isEmpty && member.view.companions.map(\.device.name) == ["ci"])
        #expect(reason { _ = try admit(stolen, by: member) } == .notAllowedHere)
    }

    @Test("A member has few tokens at a time, one for each name, and a companion cannot make any") func limits() throws {
        let member = try member()
        for number in 0..<JoinToken.countMax { _ = try make(by: member, named: "\(number)") }
        #expect(reason { _ = try make(by: member, named: "more") } == .unsupported)
        #expect(reason { _ = try make(by: member, named: "0") } == .badParameter)
        #expect(reason { _ = try make(by: member, named: "") } == .badParameter)
        let clock = member.bench.clock
        clock.setWall(microseconds: clock.referenceMicroseconds + Self.hour * 1_000_000)
        let token = try make(by: member, named: "0")
        #expect(try member.view.tokens.map(\.name) == ["0"])
        let server = try Device()
        let statement = try #require(try admit(try redeem(token, on: server), by: member).document)
        _ = try enter(statement, on: server)
        #expect(reason { _ = try make(by: server) } == .notAllowedHere)
        #expect(reason { _ = try admit([1], by: server) } == .notAllowedHere)
        #expect(reason { try server.perform(.revokeToken(verification: token.content.verification)) } == .notAllowedHere)
        // A circle with as many companions as it can have: the token is not used up.
        for number in 1..<CircleRequest.companionsMax {
            let token = try make(by: member, named: "\(number)")
            _ = try admit(try redeem(token, on: try Device()), by: member)
        }
        let last = try make(by: member, named: "last")
        #expect(reason { _ = try admit(try redeem(last, on: try Device()), by: member) } == .unsupported)
        #expect(try member.view.tokens.map(\.name) == ["last"])
    }

    @Test("A device waits for one admission at a time, and leaving ends the wait") func waiting() throws {
        let (member, server) = (try member(), try Device())
        let (token, other) = (try make(by: member), try make(by: member, named: "other"))
        #expect(reason { _ = try enter(try member.document(.view), on: server) } == .notAllowedHere)
        _ = try redeem(token, on: server)
        #expect(reason { _ = try redeem(other, on: server) } == .badParameter)
        #expect(reason { try server.perform(.apply(name: "ci")) } == .badParameter)
        #expect(reason { try server.perform(.reveal(answer: [1])) } == .badParameter)
        #expect(reason { try server.perform(.begin(name: "ci")) } == .badParameter)
        #expect(reason { _ = try server.vault.circle(.open, isApproved: false) } == .notAllowedHere)
        try server.perform(.leave)
        try server.perform(.apply(name: "ci"))
        #expect(reason { _ = try redeem(other, on: server) } == .badParameter)
        try server.perform(.leave)
        #expect(try admit(try redeem(other, on: server), by: member).document != nil)
        // A device that joins by codes at the same time continues.
        let phone = try Device()
        let answer = try member.document(.answer(commitment: try phone.document(.apply(name: "phone"))))
        _ = try admit(try redeem(token, on: try Device()), by: member)
        let revealed = try phone.perform(.reveal(answer: answer))
        #expect(try member.perform(.approve(reveal: try #require(revealed.document), code: try #require(revealed.code))).document != nil)
    }
}

/// A join request by a token, made without the code under test.
private struct Forged {
    let token: JoinToken
    let seed: [UInt8]

    init(_ token: JoinToken, seed: TokenSeed) {
        self.token = token
        self.seed = bytes(seed.bytes)
    }

    func request(
        seed: [UInt8]? = nil, circle: [UInt8]? = nil, label: String = "vauban sync token v1", name: String? = nil,
        encapsulation: [UInt8]? = nil, device: [UInt8]? = nil
    ) -> Result<[UInt8], any Error> {
        Result {
            let own = try XWingMLKEM768X25519.PrivateKey.generate().publicKey.rawRepresentation
            let newcomer = DeviceFields(
                device: device ?? [UInt8](repeating: 9, count: 16), name: name ?? token.name, encapsulation: encapsulation ?? Array(own),
                verification: Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation))
            let key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed ?? self.seed)
            let covered = Array(label.utf8) + [0] + (circle ?? token.circle) + token.member.device + (try newcomer.encoded())
            let proof = try key.signature(for: covered)
            var der = DERWriter()
            try der.sequence { fields in
                try fields.integer(1)
                try fields.octets(token.member.device)
                try fields.octets(token.verification)
                try fields.value(newcomer)
                try fields.octets(Array(proof))
            }
            return der.bytes
        }
    }
}

private struct DeviceFields: DERWritable {
    let device: [UInt8]
    let name: String
    let encapsulation: [UInt8]
    let verification: [UInt8]

    func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.octets(device)
            try fields.text(name)
            try fields.octets(encapsulation)
            try fields.octets(verification)
        }
    }
}
