// Requests about the user's passcode through a compromised authd: it can drop the request, and no more.

import Glibc
import Testing
import VaubanAuthenticationClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

@Suite("Ceremonies")
struct CeremonyTests {
    private typealias Alteration = FalseAuthentication.Alteration
    private typealias Step = @Sendable (AuthenticationClient) throws -> Void

    private static let settings = LockSettings(graceSeconds: 30, idleSeconds: 600, locksWithScreen: true)
    private static func key(_ byte: UInt8) -> RecoveryKey { RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: byte, count: 16))) }
    /// The recovery key of the compromised authd, as it types it.
    private static let digits = String(decoding: key(0xEE).digits.disclosed(), as: UTF8.self)

    /// The client library and the enclave are the real ones; authd replaces, adds and omits what the passcode's seal does not hide.
    @Test("A credential request that authd altered is refused") func credentialRequestAlteredByAuthdIsRefused() throws {
        let rooms = try Rooms()
        let reader = try rooms.reader()
        let between = try FalseAuthentication(before: rooms)

        // The first passcode authorizes itself: another recovery key beside it is noticed.
        expectRefused(between, Self.firstPasscode)
        #expect(try !rooms.authentication.status().device.passcodeIsSet)
        let first: RecoveryKey? = Self.key(1)
        try between.client.setPasscode(secret(Rooms.passcode), recoveryKey: first)
        reader.enrollNext(0xF1)
        try between.client.enroll(secret(Rooms.passcode), unlocks: false)

        let before = try (bag: rooms.keybag(), device: rooms.authentication.status().device)
        expectRefused(between, Self.passcodes + Self.recoveries + Self.others)
        let after = try rooms.authentication.status().device
        #expect(try rooms.keybag() == before.bag)
        #expect(after == before.device && after.attemptsLeft == before.device.attemptsLeft && after.failedAttempts.isEmpty)

        // The same requests through the same authd, unaltered.
        try rooms.authentication.lock()
        try between.client.unlock(secret(Rooms.passcode))
        try between.client.changePasscode(from: secret(Rooms.passcode), to: secret("battery staple"), rolls: true)
        try between.client.configure(Self.settings, passcode: secret("battery staple"))
        try between.client.recover(with: Self.key(1), to: secret("stapled horse"), newRecoveryKey: nil)
        let second: RecoveryKey? = Self.key(2)
        try between.client.setRecoveryKey(second, passcode: secret("stapled horse"))
        try between.client.confirmRecoveryKey(Self.key(2))
        reader.enrollNext(0xF2)
        try between.client.enroll(secret("stapled horse"), unlocks: true)
        try between.client.forgetFingers(secret("stapled horse"))
        try between.client.removePasscode(secret("stapled horse"))
        try between.client.erase(nil)
        #expect(try rooms.authentication.status().device.attemptsLeft == before.device.attemptsLeft)
    }

    private func expectRefused(_ between: FalseAuthentication, _ cases: [(name: String, ask: Step, alteration: Alteration)]) {
        for alteredCase in cases {
            let alteredRequests = between.alteredRequests
            let end = refusal { try between.altering(alteredCase.alteration, alteredCase.ask) }
            #expect(end == .badParameter, "\(alteredCase.name)")
            #expect(between.alteredRequests == alteredRequests + 1, "\(alteredCase.name)")
        }
    }

    // MARK: Alterations

    private static let firstPasscode: [(name: String, ask: Step, alteration: Alteration)] = [
        (
            "a recovery key is added to the first passcode", { try $0.setPasscode(secret(Rooms.passcode)) },
            { request, card in
                try altered(request) { asked, challenge in
                    guard case .setPasscode(nil) = asked else { return asked }
                    return .setPasscode(recoveryKey: try FalseAuthentication.own(digits, for: challenge, sealedTo: card))
                }
            }
        ),
        (
            "the recovery key of the first passcode is another",
            { client in
                let given: RecoveryKey? = key(1)
                try client.setPasscode(secret(Rooms.passcode), recoveryKey: given)
            },
            { request, card in
                try altered(request) { asked, challenge in
                    guard case .setPasscode = asked else { return asked }
                    return .setPasscode(recoveryKey: try FalseAuthentication.own(digits, for: challenge, sealedTo: card))
                }
            }
        ),
    ]

    private static let passcodes: [(name: String, ask: Step, alteration: Alteration)] = [
        (
            "the new passcode is another", { try $0.changePasscode(from: secret(Rooms.passcode), to: secret("battery staple")) },
            { request, card in
                try altered(request) { asked, challenge in
                    guard case .changePasscode(_, let rolls) = asked else { return asked }
                    return .changePasscode(new: try FalseAuthentication.own("taken over", for: challenge, sealedTo: card), rolls: rolls)
                }
            }
        ),
        (
            "the keys roll", { try $0.changePasscode(from: secret(Rooms.passcode), to: secret("battery staple")) },
            { request, _ in rolledOtherwise(request) }
        ),
        (
            "the keys do not roll", { try $0.changePasscode(from: secret(Rooms.passcode), to: secret("battery staple"), rolls: true) },
            { request, _ in rolledOtherwise(request) }
        ),
        (
            "a change becomes a removal", { try $0.changePasscode(from: secret(Rooms.passcode), to: secret("battery staple")) },
            { request, _ in
                altered(request) { asked, _ in
                    guard case .changePasscode = asked else { return asked }
                    return .removePasscode
                }
            }
        ),
        (
            "a removal becomes an erasure", { try $0.removePasscode(secret(Rooms.passcode)) },
            { request, _ in
                guard case .credential(.removePasscode, let challenge, let passcode) = request else { return request }
                return .credential(.erase, PasscodeChallenge(nonce: challenge.nonce, purpose: .erase), authority: passcode)
            }
        ),
    ]

    private static let recoveries: [(name: String, ask: Step, alteration: Alteration)] = [
        ("the recovery key is another", { try setKey($0, 2) }, { try recoveryKey($0, try own($0, $1)) }),
        (
            "a confirmation becomes an end of the recovery key", { try $0.confirmRecoveryKey(key(1)) },
            { request, _ in
                altered(request) { asked, _ in
                    guard case .confirmRecoveryKey = asked else { return asked }
                    return .setRecoveryKey(nil)
                }
            }
        ),
        ("the recovery key is taken away", { try setKey($0, 2) }, { request, _ in try recoveryKey(request, nil) }),
        (
            "a recovery key is added", { try $0.setRecoveryKey(nil, passcode: secret(Rooms.passcode)) },
            { try recoveryKey($0, try own($0, $1)) }
        ),
        (
            "the recovered passcode is another", { try $0.recover(with: key(1), to: secret("battery staple"), newRecoveryKey: nil) },
            { request, card in
                try altered(request) { asked, challenge in
                    guard case .recover(_, let next) = asked else { return asked }
                    return .recover(new: try FalseAuthentication.own("taken over", for: challenge, sealedTo: card), newRecoveryKey: next)
                }
            }
        ),
        (
            "recovery adds a key", { try $0.recover(with: key(1), to: secret("battery staple"), newRecoveryKey: nil) },
            { try next($0, try own($0, $1)) }
        ),
        ("recovery takes another key", { try recover($0, 2) }, { try next($0, try own($0, $1)) }),
        ("recovery takes no key", { try recover($0, 2) }, { request, _ in try next(request, nil) }),
    ]

    private static let others: [(name: String, ask: Step, alteration: Alteration)] = [
        (
            "it locks later", { try $0.configure(settings, passcode: secret(Rooms.passcode)) },
            { request, _ in configured(request) { $0.graceSeconds = 3600 } }
        ),
        (
            "it never locks", { try $0.configure(settings, passcode: secret(Rooms.passcode)) },
            { request, _ in configured(request) { $0.idleSeconds = 0 } }
        ),
        (
            "the screen does not lock it", { try $0.configure(settings, passcode: secret(Rooms.passcode)) },
            { request, _ in configured(request) { $0.locksWithScreen = false } }
        ),
        ("the finger unlocks", { try $0.enroll(secret(Rooms.passcode), unlocks: false) }, { request, _ in enrolled(request) }),
        ("the finger does not unlock", { try $0.enroll(secret(Rooms.passcode), unlocks: true) }, { request, _ in enrolled(request) }),
        (
            "enrolling becomes forgetting", { try $0.enroll(secret(Rooms.passcode), unlocks: false) },
            { request, _ in
                altered(request) { asked, _ in
                    guard case .enroll = asked else { return asked }
                    return .forgetFingers
                }
            }
        ),
        (
            "forgetting becomes enrolling", { try $0.forgetFingers(secret(Rooms.passcode)) },
            { request, _ in
                altered(request) { asked, _ in
                    guard case .forgetFingers = asked else { return asked }
                    return .enroll(unlocks: true)
                }
            }
        ),
    ]

    // MARK: Parts of requests

    private static func setKey(_ client: AuthenticationClient, _ byte: UInt8) throws {
        let given: RecoveryKey? = key(byte)
        try client.setRecoveryKey(given, passcode: secret(Rooms.passcode))
    }

    private static func recover(_ client: AuthenticationClient, _ byte: UInt8) throws {
        let given: RecoveryKey? = key(byte)
        try client.recover(with: key(1), to: secret("battery staple"), newRecoveryKey: given)
    }

    /// Returns another request under the same authorization; requests without a credential are unchanged.
    private static func altered(
        _ request: UserRequest, _ change: (CredentialRequest, PasscodeChallenge) throws -> CredentialRequest
    ) rethrows -> UserRequest {
        guard case .credential(let asked, let challenge, let authority) = request else { return request }
        return .credential(try change(asked, challenge), challenge, authority: authority)
    }

    private static func rolledOtherwise(_ request: UserRequest) -> UserRequest {
        altered(request) { asked, _ in
            guard case .changePasscode(let new, let rolls) = asked else { return asked }
            return .changePasscode(new: new, rolls: !rolls)
        }
    }

    private static func own(_ request: UserRequest, _ card: EnclaveKeyCard) throws -> SealedPasscode? {
        switch request {
        case .credential(.setRecoveryKey, let challenge, _), .credential(.recover, let challenge, _):
            try FalseAuthentication.own(digits, for: challenge, sealedTo: card)
        default: nil
        }
    }

    private static func recoveryKey(_ request: UserRequest, _ key: SealedPasscode?) throws -> UserRequest {
        altered(request) { asked, _ in
            guard case .setRecoveryKey = asked else { return asked }
            return .setRecoveryKey(key)
        }
    }

    private static func next(_ request: UserRequest, _ key: SealedPasscode?) throws -> UserRequest {
        altered(request) { asked, _ in
            guard case .recover(let new, _) = asked else { return asked }
            return .recover(new: new, newRecoveryKey: key)
        }
    }

    private static func configured(_ request: UserRequest, _ change: (inout LockSettings) -> Void) -> UserRequest {
        altered(request) { asked, _ in
            guard case .configure(var settings) = asked else { return asked }
            change(&settings)
            return .configure(settings)
        }
    }

    private static func enrolled(_ request: UserRequest) -> UserRequest {
        altered(request) { asked, _ in
            guard case .enroll(let unlocks) = asked else { return asked }
            return .enroll(unlocks: !unlocks)
        }
    }
}
