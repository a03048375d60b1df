// The second factor of "Streamline local authorization flows": a right for the current enrollment, whose public key a server has.

import Foundation
import LocalAuthentication
import Security
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanUserModel

/// The code of the talk.
private struct SecondFactor {
    func generateClientKeys() async throws -> Data {
        let login2FA = LARight(requirement: .biometryCurrentSet)
        let persisted2FA = try await LARightStore.shared.saveRight(login2FA, identifier: "2fa")
        return try await persisted2FA.key.publicKey.bytes
    }

    func signChallenge(_ challenge: Data, algorithm: SecKeyAlgorithm) async throws -> Data {
        let persisted2FA = try await LARightStore.shared.right(forIdentifier: "2fa")
        let localizedReason = "Biometric authentication is required to proceed"
        try await persisted2FA.authorize(localizedReason: localizedReason)
        return try await persisted2FA.key.sign(challenge, algorithm: algorithm)
    }
}

/// The server of the talk: it has public keys, and each open challenge.
private final class Server {
    private let publicKey: SecKey
    private var challenges: Set<Data> = []

    init(publicKey bytes: Data) throws {
        let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        publicKey = try #require(SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil))
    }

    func challenge() -> Data {
        let challenge = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        challenges.insert(challenge)
        return challenge
    }

    func accepts(_ signature: Data, of challenge: Data, algorithm: SecKeyAlgorithm) -> Bool {
        guard challenges.remove(challenge) != nil else { return false }
        return SecKeyVerifySignature(publicKey, algorithm, challenge as CFData, signature as CFData, nil)
    }
}

extension AppleNames {
    @Suite("A right as second factor")
    struct SecondFactorRightTests {
        let rooms: Rooms
        private let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

        init() throws { rooms = try SharedRooms.use() }

        private func withFinger(_ body: (VirtualReader) async throws -> Void) async throws {
            try await rooms.withEnrolledFinger { reader in
                do { try await body(reader) } catch { Issue.record(error) }
                try? await LARightStore.shared.removeRight(forIdentifier: "2fa")
            }
        }

        private func code(_ body: () async throws -> Void) async -> Int? {
            do {
                try await body()
                return nil
            } catch {
                return (error as NSError).code
            }
        }

        @Test("A server accepts one signature for each challenge, made after a touch of the enrolled user", .proves("C-182", "C-214"))
        func serverVerifiesWhoTouchedTheReader() async throws {
            try await withFinger { reader in
                // Touches come once the prompt is shown, as a user's do.
                let touch = ScriptedUser.Answer.act {
                    _ = reader.awaitRequest()
                    reader.touch()
                }
                let miss = ScriptedUser.Answer.act {
                    _ = reader.awaitRequest()
                    reader.expect(.miss, .miss)
                    reader.touch(matching: false)
                }
                let user = try rooms.user([touch, touch, miss])
                defer { user.leave() }
                let factor = SecondFactor()
                let server = try Server(publicKey: await factor.generateClientKeys())
                let first = server.challenge()
                let signature = try await factor.signChallenge(first, algorithm: algorithm)
                #expect(server.accepts(signature, of: first, algorithm: algorithm))
                // Once, for this challenge.
                #expect(!server.accepts(signature, of: first, algorithm: algorithm))
                let second = server.challenge()
                #expect(!server.accepts(signature, of: second, algorithm: algorithm))
                let third = server.challenge()
                #expect(server.accepts(try await factor.signChallenge(third, algorithm: algorithm), of: third, algorithm: algorithm))
                // Each challenge prompts, since each time the right is another instance.
                #expect(
                    await code { _ = try await factor.signChallenge(server.challenge(), algorithm: algorithm) }
                        == LAError.Code.authenticationFailed.rawValue)
                try awaitTrue("three prompts") { user.lastingRequests.map(\.methods) == [.finger, .finger, .finger] }
                #expect(Set(user.lastingRequests.map(\.reason)) == ["Biometric authentication is required to proceed"])
            }
        }

        /// Another enrollment: the fingerprint matches, but the key never accepts it again.
        @Test("Another enrollment ends the key for good", .proves("C-182"))
        func anotherEnrollmentEndsTheKeyForGood() async throws {
            try await withFinger { reader in
                let user = try rooms.user([.silence, .silence, .silence])
                defer { user.leave() }
                _ = try await SecondFactor().generateClientKeys()
                let right = try await LARightStore.shared.right(forIdentifier: "2fa")
                reader.expect(.match, .match, .match)
                try await right.authorize(localizedReason: "sign")
                try rooms.enroll(reader)
                #expect(
                    await code { _ = try await right.key.sign(Data(), algorithm: algorithm) } == LAError.Code.authenticationFailed.rawValue)
                #expect(right.state == .notAuthorized)
                for _ in 1...2 {
                    #expect(await code { try await right.authorize(localizedReason: "sign") } == LAError.Code.authenticationFailed.rawValue)
                    #expect(right.state == .notAuthorized)
                }
            }
        }

        /// Any finger that is enrolled: a later enrollment is accepted too.
        @Test("A right for any fingerprint outlives another enrollment", .proves("C-176", "C-180"))
        func aRightForAnyFingerOutlivesAnotherEnrollment() async throws {
            try await withFinger { reader in
                let user = try rooms.user([.silence])
                defer { user.leave() }
                let right = try await LARightStore.shared.saveRight(LARight(requirement: .biometry), identifier: "2fa")
                try rooms.enroll(reader)
                reader.expect(.match)
                try await right.authorize(localizedReason: "sign")
                let signature = try await right.key.sign(Data("m".utf8), algorithm: algorithm)
                try await right.key.publicKey.verify(Data("m".utf8), signature: signature, algorithm: algorithm)
                try user.awaitPrompts(offering: [.finger])
            }
        }

        /// Without a passcode, users cannot be distinguished: the right is erased with it, and saving one is refused.
        @Test("Removing the passcode erases rights, and none can be saved without one") func rightsAreErasedWithThePasscode() async throws {
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "2fa", secret: Data("s".utf8))
            try rooms.authentication.removePasscode(secret(Rooms.passcode))
            #expect(await code { _ = try await LARightStore.shared.right(forIdentifier: "2fa") } == Int(errSecItemNotFound))
            #expect(await code { _ = try await LARightStore.shared.saveRight(LARight(), identifier: "2fa") } != nil)
            try rooms.setPasscode()
            #expect(await code { _ = try await LARightStore.shared.right(forIdentifier: "2fa") } == Int(errSecItemNotFound))
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "2fa")
            try await LARightStore.shared.removeRight(forIdentifier: "2fa")
        }
    }
}
