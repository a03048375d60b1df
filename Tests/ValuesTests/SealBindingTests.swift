import TestSupport
import Testing
import VaubanDER
import VaubanUserModel
import VaubanUserWire

/// The binding of a passcode that authorizes a request: every implementation encodes it equally, and each request has another one.
@Suite struct SealBindingTests {
    private static func octets(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
    private static let new = SealedPasscode(encapsulated: octets(4, 32), ciphertext: octets(5, 22))
    private static let key = SealedPasscode(encapsulated: octets(6, 32), ciphertext: octets(7, 64))
    private static let newBytes = [0x30, 0x3A, 0x04, 0x20] + octets(4, 32) + [0x04, 0x16] + octets(5, 22)
    private static let keyBytes = [0xA0, 0x66, 0x30, 0x64, 0x04, 0x20] + octets(6, 32) + [0x04, 0x40] + octets(7, 64)

    /// Every request, with every optional secret present in one and absent in another.
    static let known: [(request: CredentialRequest, bytes: [UInt8])] = [
        (.setPasscode(recoveryKey: nil), [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA0, 0x00]),
        (.setPasscode(recoveryKey: key), [0x30, 0x71, 2, 1, 2, 0xA0, 0x6C, 0x30, 0x6A, 0xA0, 0x68] + keyBytes),
        (.changePasscode(new: new, rolls: false), [0x30, 0x48, 2, 1, 2, 0xA0, 0x43, 0x30, 0x41, 0xA1, 0x3F] + newBytes + [1, 1, 0x00]),
        (.changePasscode(new: new, rolls: true), [0x30, 0x48, 2, 1, 2, 0xA0, 0x43, 0x30, 0x41, 0xA1, 0x3F] + newBytes + [1, 1, 0xFF]),
        (.removePasscode, [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA2, 0x00]),
        (.erase, [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA3, 0x00]),
        (.recover(new: new, newRecoveryKey: nil), [0x30, 0x45, 2, 1, 2, 0xA0, 0x40, 0x30, 0x3E, 0xA4, 0x3C] + newBytes),
        (
            .recover(new: new, newRecoveryKey: key),
            [0x30, 0x81, 0xB0, 2, 1, 2, 0xA0, 0x81, 0xAA, 0x30, 0x81, 0xA7, 0xA4, 0x81, 0xA4] + newBytes + keyBytes
        ),
        (.setRecoveryKey(nil), [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA5, 0x00]),
        (.setRecoveryKey(key), [0x30, 0x71, 2, 1, 2, 0xA0, 0x6C, 0x30, 0x6A, 0xA5, 0x68] + keyBytes),
        (
            .configure(LockSettings(graceSeconds: 30, idleSeconds: 600, locksWithScreen: true)),
            [0x30, 0x15, 2, 1, 2, 0xA0, 0x10, 0x30, 0x0E, 0xA6, 0x0C, 0x30, 0x0A, 2, 1, 0x1E, 2, 2, 0x02, 0x58, 1, 1, 0xFF]
        ),
        (.enroll(unlocks: false), [0x30, 0x0C, 2, 1, 2, 0xA0, 0x07, 0x30, 0x05, 0xA7, 0x03, 1, 1, 0x00]),
        (.enroll(unlocks: true), [0x30, 0x0C, 2, 1, 2, 0xA0, 0x07, 0x30, 0x05, 0xA7, 0x03, 1, 1, 0xFF]),
        (.forgetFingers, [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA8, 0x00]),
        (.listFingers, [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xA9, 0x00]),
        (.confirmRecoveryKey, [0x30, 0x09, 2, 1, 2, 0xA0, 0x04, 0x30, 0x02, 0xAA, 0x00]),
    ]

    @Test("Every binding matches the specification") func everyBindingMatchesTheSpecification() throws {
        for answer in Self.known { #expect(try SealBinding.credential(answer.request).encoded() == answer.bytes, "\(answer.request)") }
        #expect(Set(Self.known.map(\.bytes)).count == Self.known.count)
    }

    @Test("The binding of an answer that holds contains all of it") func bindingOfAnAnswerThatHoldsHasAllOfIt() throws {
        let hold = PromptHold(seconds: 300, namespace: "git", program: CallerName(pid: 43, path: "/a"))
        let bytes: [UInt8] = [0x30, 0x1B, 2, 1, 2, 0xA2, 0x16, 0x30, 0x14, 2, 2, 0x01, 0x2C, 0x0C, 3, 0x67, 0x69, 0x74, 0x30, 0x09]
        #expect(try SealBinding.hold(hold).encoded() == bytes + [2, 1, 43, 0xA0, 4, 0x0C, 2, 0x2F, 0x61])
    }

    @Test("The binding of a change contains all of it") func bindingOfAChangeHasAllOfIt() throws {
        let after = LockSettings(graceSeconds: 30, idleSeconds: 600, locksWithScreen: true)
        let configured: [UInt8] = [
            0x30, 0x20, 2, 1, 2, 0xA3, 0x1B, 0x30, 0x19, 0xA0, 0x17,
            0x30, 0x09, 2, 1, 0, 2, 1, 0, 1, 1, 0x00, 0x30, 0x0A, 2, 1, 0x1E, 2, 2, 0x02, 0x58, 1, 1, 0xFF,
        ]
        let known: [(change: CredentialChange, bytes: [UInt8])] = [
            (.configure(before: .standard, after: after), configured),
            (.enroll(unlocks: false), [0x30, 0x0C, 2, 1, 2, 0xA3, 0x07, 0x30, 0x05, 0xA1, 0x03, 1, 1, 0x00]),
            (.enroll(unlocks: true), [0x30, 0x0C, 2, 1, 2, 0xA3, 0x07, 0x30, 0x05, 0xA1, 0x03, 1, 1, 0xFF]),
            (.forgetFingers, [0x30, 0x09, 2, 1, 2, 0xA3, 0x04, 0x30, 0x02, 0xA2, 0x00]),
            (.endRecoveryKey, [0x30, 0x09, 2, 1, 2, 0xA3, 0x04, 0x30, 0x02, 0xA3, 0x00]),
            (.changePasscode, [0x30, 0x09, 2, 1, 2, 0xA3, 0x04, 0x30, 0x02, 0xA4, 0x00]),
            (.makeRecoveryKey, [0x30, 0x09, 2, 1, 2, 0xA3, 0x04, 0x30, 0x02, 0xA5, 0x00]),
        ]
        for (change, bytes) in known { #expect(try SealBinding.change(change).encoded() == bytes, "\(change)") }
        #expect(SealBinding.ofAnswer(holding: nil, making: .forgetFingers) == .change(.forgetFingers))
        #expect(SealBinding.ofAnswer(holding: nil, making: nil) == nil)
        // The new secret of a change, as it is sealed, is part of it.
        let new: [UInt8] = [0xA0, 0x38, 0x04, 0x20] + Self.octets(4, 32) + [0x04, 0x14] + Self.octets(5, 20)
        let bound = try SealBinding.change(.changePasscode, new: Self.sealed).encoded()
        #expect(Array(bound) == [0x30, 0x45, 2, 1, 2, 0xA3, 0x40, 0x30, 0x02, 0xA4, 0x00, 0xA0, 0x3A, 0x30] + new.dropFirst())
        #expect(SealBinding.ofAnswer(holding: nil, making: .changePasscode, new: Self.sealed) == .change(.changePasscode, new: Self.sealed))
    }

    private static let sealed = SealedPasscode(encapsulated: octets(4, 32), ciphertext: octets(5, 20))

    @Test("Only a prompt for a recovery key can say that the key was made") func onlyARecoveryKeyIsMade() throws {
        func request(_ change: CredentialChange) -> PromptRequest {
            PromptRequest(
                prompt: Self.octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: Self.octets(7, 32), purpose: .prompt),
                caller: CallerName(pid: 42, path: nil), operation: .changeCredential, reason: nil, attempt: 1, attemptsLeft: 5,
                change: change, isMade: true)
        }
        #expect(try PromptRequest(derBytes: request(.makeRecoveryKey).encoded()).isMade)
        for other: CredentialChange in [.changePasscode, .endRecoveryKey, .forgetFingers, .enroll(unlocks: true)] {
            #expect(throws: (any Error).self) { try PromptRequest(derBytes: request(other).encoded()) }
        }
    }

    @Test("A prompt has a change if, and only if, its operation is a change") func changeGoesWithItsOperation() throws {
        func request(_ operation: PromptOperation, _ change: CredentialChange?) -> PromptRequest {
            PromptRequest(
                prompt: Self.octets(6, 16), user: 1000, challenge: PasscodeChallenge(nonce: Self.octets(7, 32), purpose: .prompt),
                caller: CallerName(pid: 42, path: nil), operation: operation, reason: nil, attempt: 1, attemptsLeft: 5, change: change)
        }
        #expect(try PromptRequest(derBytes: request(.changeCredential, .forgetFingers).encoded()).change == .forgetFingers)
        for wrong in [request(.changeCredential, nil), request(.unlock, .forgetFingers), request(.evaluatePolicy, .endRecoveryKey)] {
            #expect(throws: (any Error).self) { try PromptRequest(derBytes: wrong.encoded()) }
        }
    }

    /// The request is sent in the bytes of its binding, so that it is read exactly as it was bound.
    @Test("A request is sent in the bytes that its seal is bound to") func requestCarriesTheBytesItsSealIsBoundTo() throws {
        let challenge = PasscodeChallenge(nonce: Self.octets(8, 32), purpose: .change)
        for (request, bytes) in Self.known {
            let bound = Array(try request.encoded())
            let sent = try UserRequest.credential(request, challenge, authority: Self.new).encoded()
            #expect(Array(bytes.suffix(bound.count)) == bound)
            #expect(sent.indices.contains { sent[$0...].starts(with: bound) }, "\(request)")
        }
    }

    @Test("The encoding matches the example of Specs/user-wire.md") func encodingMatchesTheExampleOfTheSpecification() throws {
        let document = try SpecDocument("user-wire")
        #expect(try document.example("seal binding") == SealBinding.credential(.changePasscode(new: Self.new, rolls: true)).encoded())
    }

    /// A secret of the request that is missing here could be replaced in transit.
    @Test("Other secrets of a request are bound too") func otherSecretsAreBound() throws {
        for (request, bytes) in Self.known {
            for other in request.otherSecrets.compactMap({ $0 }) {
                let written = try other.encoded()
                #expect(bytes.indices.contains { bytes[$0...].starts(with: written) }, "\(request)")
            }
        }
        #expect(CredentialRequest.recover(new: Self.new, newRecoveryKey: Self.key).otherSecrets == [Self.new, Self.key])
        #expect(CredentialRequest.recover(new: Self.new, newRecoveryKey: nil).otherSecrets == [Self.new, nil])
        #expect(CredentialRequest.changePasscode(new: Self.new, rolls: true).otherSecrets == [Self.new])
        #expect(CredentialRequest.setRecoveryKey(Self.key).otherSecrets == [Self.key])
        #expect(CredentialRequest.setPasscode(recoveryKey: Self.key).otherSecrets == [Self.key])
    }
}
