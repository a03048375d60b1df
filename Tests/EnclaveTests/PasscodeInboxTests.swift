import Crypto
import Enclave
import EnclaveBook
import Foundation
import TestSupport
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// A sealed passcode is valid for one challenge, one purpose, one user and one enclave, once.
@Suite struct PasscodeInboxTests {
    private let clock = ManualClock()
    private let inbox: PasscodeInbox
    private static let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)

    init() { inbox = PasscodeInbox(clock: clock) }

    /// Seals as an agent does, following the specification: label, zero, purpose, user, nonce.
    private func seal(_ passcode: String, _ challenge: PasscodeChallenge, user: UInt32 = 1000, card: EnclaveKeyCard? = nil) throws
        -> SealedPasscode
    {
        let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: (card ?? inbox.card).publicKey)
        let bound: [UInt8] = [0, UInt8(challenge.purpose.rawValue)] + ByTheBook.bigEndian(user) + challenge.nonce
        let info = Data("vauban passcode v1".utf8) + Data(bound)
        var sender = try HPKE.Sender(recipientKey: key, ciphersuite: Self.suite, info: info)
        let ciphertext = Array(try sender.seal(Data(passcode.utf8)))
        return SealedPasscode(encapsulated: Array(sender.encapsulatedKey), ciphertext: ciphertext)
    }

    @Test("A sealed passcode opens for its challenge", arguments: [PasscodePurpose.unlock, .set, .change, .prompt])
    func aPasscodeOpensForItsChallenge(_ purpose: PasscodePurpose) throws {
        let challenge = try inbox.challenge(purpose, for: 1000)
        let sealed = try seal("öffne dich", challenge)
        try inbox.use(challenge, for: 1000)
        #expect(bytes(try inbox.unseal(sealed, challenge, of: 1000)) == Array("öffne dich".utf8))
    }

    @Test("Using a challenge consumes it") func aChallengeIsUsedUpByItsUse() throws {
        let challenge = try inbox.challenge(.unlock, for: 1000)
        try inbox.use(challenge, for: 1000)
        #expect(refusal { try inbox.use(challenge, for: 1000) }?.reason == .badParameter)
    }

    /// A failed use counts too: trying a challenge for another purpose consumes it.
    @Test("Misusing a challenge consumes it too") func aMisusedChallengeIsGoneToo() throws {
        let challenge = try inbox.challenge(.unlock, for: 1000)
        let other = PasscodeChallenge(nonce: challenge.nonce, purpose: .prompt)
        #expect(refusal { try inbox.use(other, for: 1000) }?.reason == .badParameter)
        #expect(refusal { try inbox.use(challenge, for: 1000) }?.reason == .badParameter)

        let second = try inbox.challenge(.unlock, for: 1000)
        #expect(refusal { try inbox.use(second, for: 1001) }?.reason == .badParameter)
        #expect(refusal { try inbox.use(second, for: 1000) }?.reason == .badParameter)
    }

    @Test("An unknown challenge is refused") func aChallengeThatWasNeverMadeIsNotOpen() {
        let invented = PasscodeChallenge(nonce: [UInt8](repeating: 0, count: 32), purpose: .unlock)
        #expect(refusal { try inbox.use(invented, for: 1000) }?.reason == .badParameter)
    }

    @Test("A challenge expires with the user's timeout") func challengeExpiresWithTheUsersTimeout() throws {
        let early = try inbox.challenge(.unlock, for: 1000), late = try inbox.challenge(.unlock, for: 1000)
        clock.advance(seconds: 299)
        try inbox.use(early, for: 1000)
        clock.advance(seconds: 1)
        #expect(refusal { try inbox.use(late, for: 1000) }?.reason == .badParameter)
        clock.setWall(microseconds: 0)
        #expect(refusal { try inbox.use(late, for: 1000) }?.reason == .badParameter)
    }

    @Test("A passcode sealed for one challenge does not open for another") func aPasscodeSealedForOneChallengeOpensForNoOther() throws {
        let challenge = try inbox.challenge(.unlock, for: 1000)
        let sealed = try seal("open sesame", challenge)
        let others = [
            try inbox.challenge(.unlock, for: 1000), PasscodeChallenge(nonce: challenge.nonce, purpose: .prompt),
            PasscodeChallenge(nonce: challenge.nonce, purpose: .set),
        ]
        for other in others { #expect(refusal { _ = try inbox.unseal(sealed, other, of: 1000) }?.reason == .badParameter) }
        #expect(refusal { _ = try inbox.unseal(sealed, challenge, of: 1001) }?.reason == .badParameter)
        #expect(refusal { _ = try PasscodeInbox(clock: clock).unseal(sealed, challenge, of: 1000) }?.reason == .badParameter)
        _ = try inbox.unseal(sealed, challenge, of: 1000)
    }

    @Test("An altered seal does not open") func alteredBytesDoNotOpen() throws {
        let challenge = try inbox.challenge(.unlock, for: 1000)
        let sealed = try seal("open sesame", challenge)
        for index in 0..<32 + sealed.ciphertext.count {
            var encapsulated = sealed.encapsulated, ciphertext = sealed.ciphertext
            if index < 32 { encapsulated[index] ^= 1 } else { ciphertext[index - 32] ^= 1 }
            let altered = SealedPasscode(encapsulated: encapsulated, ciphertext: ciphertext)
            #expect(refusal { _ = try inbox.unseal(altered, challenge, of: 1000) }?.reason == .badParameter)
        }
        let zero = SealedPasscode(encapsulated: [UInt8](repeating: 0, count: 32), ciphertext: sealed.ciphertext)
        #expect(refusal { _ = try inbox.unseal(zero, challenge, of: 1000) }?.reason == .badParameter)
    }

    @Test("Open challenges are limited, and the oldest is dropped") func openChallengesAreLimitedAndTheOldestIsDropped() throws {
        let foreign = try inbox.challenge(.unlock, for: 1001)
        let all = try (0...EnclaveLimits.openChallengesMax).map { _ in try inbox.challenge(.unlock, for: 1000) }
        #expect(Set(all.map(\.nonce)).count == all.count)
        #expect(refusal { try inbox.use(all[0], for: 1000) }?.reason == .badParameter)
        for challenge in all.dropFirst() { try inbox.use(challenge, for: 1000) }
        try inbox.use(foreign, for: 1001)
    }

    /// A program that requests challenges or prompts again and again does not invalidate a prompt that the user is answering.
    @Test("A prompt's challenge is never dropped and ends with its prompt") func challengeOfAPromptIsKeptUntilThePromptEnds()
        throws
    {
        let request = try inbox.challenge(.prompt, for: 1000)
        for _ in 0...EnclaveLimits.openChallengesMax { _ = try inbox.challenge(.unlock, for: 1000) }
        for _ in 0...EnclaveLimits.openChallengesMax { inbox.withdraw(try inbox.challenge(.prompt, for: 1000)) }
        try inbox.use(request, for: 1000)

        let withdrawn = try inbox.challenge(.prompt, for: 1000)
        inbox.withdraw(withdrawn)
        #expect(refusal { try inbox.use(withdrawn, for: 1000) }?.reason == .badParameter)
    }

    @Test("Every enclave has its own public key") func keysOfEnclavesDiffer() throws {
        #expect(inbox.card != PasscodeInbox(clock: clock).card)
        #expect(try EnclaveKeyCard(derBytes: inbox.card.encoded()) == inbox.card)
        #expect(try inbox.card.encoded().count <= EnclaveKeyCard.bytesMax)
    }
}
