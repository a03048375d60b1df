import Crypto
import Enclave
import Foundation
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

/// The passcode that authorizes a request opens for exactly that request, and for no other: a process that relays the request can seal its
/// own secrets for the same challenge.
@Suite struct SealBindingTests {
    private let inbox = PasscodeInbox(clock: ManualClock())

    private static func seal(_ byte: UInt8, _ cipher: UInt8 = 9) -> SealedPasscode {
        SealedPasscode(encapsulated: [UInt8](repeating: byte, count: 32), ciphertext: [UInt8](repeating: cipher, count: 30))
    }

    private static func settings(grace: Int64 = 30, idle: Int64 = 600, screen: Bool = true) -> CredentialRequest {
        .configure(LockSettings(graceSeconds: grace, idleSeconds: idle, locksWithScreen: screen))
    }

    /// Each request, and each with one thing changed.
    private static let requests: [CredentialRequest] = [
        .setPasscode(recoveryKey: nil), .setPasscode(recoveryKey: seal(1)), .setPasscode(recoveryKey: seal(2)),
        .changePasscode(new: seal(1), rolls: false), .changePasscode(new: seal(2), rolls: false),
        .changePasscode(new: seal(1, 8), rolls: false),
        .changePasscode(new: seal(1), rolls: true),
        .removePasscode, .erase,
        .recover(new: seal(1), newRecoveryKey: nil), .recover(new: seal(2), newRecoveryKey: nil),
        .recover(new: seal(1), newRecoveryKey: seal(2)),
        .recover(new: seal(1), newRecoveryKey: seal(3)), .recover(new: seal(2), newRecoveryKey: seal(1)),
        .setRecoveryKey(nil), .setRecoveryKey(seal(1)), .setRecoveryKey(seal(2)),
        settings(), settings(grace: 31), settings(grace: 30, idle: 601), settings(grace: 30, idle: 600, screen: false),
        .enroll(unlocks: false), .enroll(unlocks: true), .forgetFingers, .listFingers, .confirmRecoveryKey,
    ]

    /// The same with the answers to prompts for consent and for changes; nil is an unlock, or a secret that authorizes nothing.
    private static let all: [SealBinding?] =
        [nil] + requests.map { .credential($0) } + [
            consent(.once), consent(.untilLock), consent(.always), consent(.once, of: "bank/me"), consent(.once, .changeItem),
        ] + changes.map { .change($0) }
        + [seal(1), seal(2), seal(1, 8)].flatMap { [.change(.changePasscode, new: $0), .change(.makeRecoveryKey, new: $0)] }

    /// Each change that a prompt shows, and each with one thing changed.
    private static let changes: [CredentialChange] = [
        change(), change(before: 5), change(after: 31), .enroll(unlocks: false), .enroll(unlocks: true), .forgetFingers, .endRecoveryKey,
        .changePasscode, .makeRecoveryKey,
    ]

    private static func change(before: Int64 = 0, after: Int64 = 30) -> CredentialChange {
        .configure(
            before: LockSettings(graceSeconds: before, idleSeconds: 600, locksWithScreen: true),
            after: LockSettings(graceSeconds: after, idleSeconds: 600, locksWithScreen: true))
    }

    private static func consent(_ choice: ConsentChoice, of item: String = "mail/me", _ purpose: Consent.Purpose = .readItem) -> SealBinding
    {
        .consent(Consent(purpose, offered: [.once, .untilLock, .always], item: item, owner: "program:/usr/bin/mail"), choice)
    }

    /// Seals as the client does, following the specification: the binding is HPKE's additional data, the info is that of the challenge.
    private func seal(_ challenge: PasscodeChallenge, for binding: SealBinding?) throws -> SealedPasscode {
        let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: inbox.card.publicKey)
        let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
        var sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: Data(challenge.sealInfo(user: 1000)))
        let passcode = Data("correct horse".utf8)
        let ciphertext = try binding.map { try sender.seal(passcode, authenticating: Data($0.encoded())) } ?? sender.seal(passcode)
        return SealedPasscode(encapsulated: Array(sender.encapsulatedKey), ciphertext: Array(ciphertext))
    }

    /// One challenge for all, so that only the binding distinguishes them.
    @Test("A passcode opens only for the request it authorizes") func aPasscodeOpensForTheRequestThatItAuthorizesAndForNoOther() throws {
        let challenge = try inbox.challenge(.change, for: 1000)
        for meant in Self.all {
            let sealed = try seal(challenge, for: meant)
            for asked in Self.all {
                let end = refusal { _ = try inbox.unseal(sealed, challenge, of: 1000, authorizing: asked) }
                #expect(
                    end?.reason == (meant == asked ? nil : .badParameter), "\(String(describing: meant)) for \(String(describing: asked))")
            }
        }
    }

    @Test("A request's challenge must have its purpose") func aRequestsChallengeIsForItsPurpose() {
        #expect(Set(Self.requests.map(\.purpose)) == [.set, .change, .remove, .erase, .recover, .recoveryKey, .configure, .enroll])
        #expect(CredentialRequest.forgetFingers.purpose == CredentialRequest.enroll(unlocks: true).purpose)
    }
}
