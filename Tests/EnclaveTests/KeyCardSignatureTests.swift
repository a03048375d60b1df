// The enclave's signature over its own key card, from which another device learns to which enclave it seals a passcode
// (Specs/forwarded-prompts.md).

import Crypto
import Enclave
import EnclaveWire
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSyncModel
import VaubanUserModel

@Suite("Key cards that a circle knows")
struct KeyCardSignatureTests {
    private typealias Device = CircleTests.Device

    private let card = EnclaveKeyCard(publicKey: [UInt8](repeating: 0xC4, count: 32))
    private let digest = [UInt8](repeating: 0xD1, count: 32)

    private func sign(_ device: Device) throws -> [UInt8] {
        try #require(try device.vault.circle(.signKeyCard(with: digest), isApproved: false, card: card).reply.document)
    }

    private func isValid(_ document: [UInt8], by device: Device) throws -> Bool {
        let view = try device.view
        let member = (view.members + view.companions.map(\.device)).first { $0.device == view.device }
        return try isValid(document, by: try #require(member), in: view)
    }

    private func isValid(_ document: [UInt8], by member: CircleMember, in view: CircleView) throws -> Bool {
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: member.verification)
        let signed = Array("vauban sync key card v1".utf8) + [0] + (view.circle ?? []) + member.device + card.publicKey + digest
        return key.isValidSignature(document.dropFirst(32), for: signed)
    }

    @Test("The enclave signs and returns its own key card, whatever the digest in the request is") func signsItsCard() throws {
        let device = try Device()
        try device.perform(.begin(name: "desk"))
        let document = try sign(device)
        #expect(document.count == 96 && Array(document.prefix(32)) == card.publicKey)
        #expect(try isValid(document, by: device))
        // It is not valid as the signature of a file, nor the reverse.
        let file = try device.document(.sign(digest: digest))
        #expect(try !isValid(card.publicKey + file, by: device))
    }

    @Test("The enclave signs its key card only in a circle and while the keychain is unlocked") func needsACircle() throws {
        let device = try Device()
        #expect(refusal { _ = try sign(device) }?.reason == .notAllowedHere)
        try device.perform(.begin(name: "desk"))
        try device.vault.lock()
        #expect(refusal { _ = try sign(device) }?.reason == .locked)
    }

    @Test("A companion signs its key card, but no file") func companionsCard() throws {
        let member = try Device()
        try member.perform(.begin(name: "desk"))
        let newcomer = try Device()
        let answer = try member.document(.answer(commitment: try newcomer.document(.apply(name: "pi"))))
        let revealed = try newcomer.perform(.reveal(answer: answer))
        let (reveal, code) = (try #require(revealed.document), try #require(revealed.code))
        let approved = try member.perform(.admitCompanion(reveal: reveal, code: code, .empty, shown: ""))
        try newcomer.perform(.enter(statement: try #require(approved.document), code: try #require(approved.code)))
        let view = try member.view
        #expect(try isValid(try sign(newcomer), by: try #require(view.companions.first?.device), in: view))
        #expect(refusal { try newcomer.perform(.sign(digest: digest)) }?.reason == .notAllowedHere)
    }
}
