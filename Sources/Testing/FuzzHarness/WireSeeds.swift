import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanLogHead
import VaubanPasscode
import VaubanSecretBytes
import VaubanSyncModel
import VaubanUserModel
import VaubanUserWire

extension WireFuzzing {
    /// Returns complete conversations as first inputs, so that the fuzzer need not discover them. Single messages come from the samples of
    /// the wire tests.
    package static func seeds() throws -> [[UInt8]] { try conversations.map { try $0.flatMap { try $0.encoded() } } }

    private static var conversations: [[any DERWritable]] {
        [
            [unlock, seal(.whenUnlocked), open(.whenUnlocked), lock, open(.whenUnlocked), unlock, open(.whenUnlocked)],
            [
                user(.status), seal(.always), open(.always), unlock, seal(.afterFirstUnlock), lock, open(.afterFirstUnlock),
                EnclaveRequest.lease,
            ],
            [
                unlock, seal(.whenPasscodeSetThisDeviceOnly, .userPresence),
                open(.whenPasscodeSetThisDeviceOnly, flags: .userPresence, reason: "correct horse"),
            ],
            [
                unlock, seal(.whenUnlocked, .devicePasscode), open(.whenUnlocked, flags: .devicePasscode, reason: "wrong"),
                open(.whenUnlocked, flags: .devicePasscode, reason: "correct horse"),
            ],
            [
                unlock, seal(.whenUnlocked, [.biometryAny, .or, .devicePasscode]),
                open(.whenUnlocked, flags: [.biometryAny, .or, .devicePasscode], reason: "correct horse"),
            ],
            [
                unlock, seal(.always, [.applicationPassword, .devicePasscode]),
                open(.always, flags: [.applicationPassword, .devicePasscode], reason: "correct horse"),
            ],
            [
                unlock, seal(.whenUnlocked), roll, rewrap(.whenUnlocked), open(.whenUnlocked), lock, EnclaveRequest.retire([oldest]),
                EnclaveRequest.keyStatus(oldest),
            ],
            [
                unlock, seal(.whenUnlocked), EnclaveRequest.openBackup(keybag: nil, .backUp), EnclaveRequest.backUp(plain, wrapped: [0]),
                EnclaveRequest.openBackup(keybag: [0], .restore), EnclaveRequest.restoreKeys(plain, wrapped: [0]),
                open(.whenUnlocked),
            ],
            [
                unlock, seal(.whenUnlocked), EnclaveRequest.openBackup(keybag: nil, .backUp, recipient: recipient),
                EnclaveRequest.backUp(plain, wrapped: [0]), EnclaveRequest.openBackup(keybag: [0], .restore, secretIsRestoreKey: true),
                EnclaveRequest.restoreKeys(plain, wrapped: [0]), open(.whenUnlocked),
            ],
            [
                unlock, EnclaveRequest.circle(.begin(name: "a")), EnclaveRequest.circle(.open), seal(.whenUnlocked),
                EnclaveRequest.sealForCircle(plain, wrapped: [0]), EnclaveRequest.circleItemKeys(plain, wrapped: [0], epoch: 1),
                EnclaveRequest.circleNames, EnclaveRequest.makeSeriesKey, EnclaveRequest.signLogHead(LogHeadRequest()),
                EnclaveRequest.anchorLog([AccessLogLink(number: 1, series: 1, digest: [UInt8](repeating: 0, count: 32))]),
                EnclaveRequest.nameTeam(TeamIdentifier(keyDigest: [UInt8](repeating: 0, count: 32)), name: "a"),
                EnclaveRequest.openSeriesKey([UInt8](repeating: 0, count: EnclaveRequest.sealedSeriesKeyBytes)),
                EnclaveRequest.sealForCompanion(
                    plain, wrapped: [0], device: [UInt8](repeating: 0, count: 16), name: [UInt8](repeating: 0, count: 16)),
                EnclaveRequest.circle(.allow(device: [UInt8](repeating: 0, count: 16), .empty, shown: "")),
                EnclaveRequest.circle(.answer(commitment: [0])), EnclaveRequest.circle(.follow(statement: [0])),
                EnclaveRequest.circle(.remove(device: [UInt8](repeating: 0, count: 16))), EnclaveRequest.circle(.leave),
                EnclaveRequest.circle(.apply(name: "b")), EnclaveRequest.circle(.reveal(answer: [0])), open(.whenUnlocked),
                EnclaveRequest.circle(.leave), EnclaveRequest.circle(.begin(name: "a")),
                EnclaveRequest.circle(.makeToken(name: "ci", seconds: 60, .empty, shown: "")),
                EnclaveRequest.circle(.admitByToken(request: [0])), EnclaveRequest.circle(.leave),
                EnclaveRequest.circle(.redeem(token: [0])), EnclaveRequest.circle(.enterByToken(statement: [0])),
            ],
            [
                unlock, seal(.whenUnlocked), open(.whenUnlocked), EnclaveRequest.circle(.begin(name: "a")),
                EnclaveRequest.circle(.makeRecoveryKey), EnclaveRequest.circle(.confirmRecoveryKey), EnclaveRequest.circle(.leave),
                EnclaveRequest.circle(.findByRecoveryKey(statement: [0])), EnclaveRequest.circle(.followByRecoveryKey(statement: [0])),
                EnclaveRequest.circle(.findByRecoveryKey(statement: [0])), EnclaveRequest.circle(.enterByRecoveryKey(name: "b")),
                EnclaveRequest.circle(.endRecoveryKey), EnclaveRequest.circle(.signKeyCard(with: Array(repeating: 0, count: 32))),
            ],
            [
                unlock, credential(.enroll(unlocks: true)), seal(.whenUnlocked, .biometryCurrentSet),
                seal(.whenUnlocked), open(.whenUnlocked), lock, user(.unlockByPrompt(reason: "x")), user(.unlockByFinger),
                user(.changeByPrompt(.enroll(unlocks: true))), user(.changeByPrompt(.forgetFingers)),
                open(.whenUnlocked, flags: .biometryCurrentSet, reason: "correct horse"),
                user(.evaluate(Evaluation(.policy(.biometry), reason: "x"))),
                credential(.forgetFingers), open(.whenUnlocked, flags: .biometryCurrentSet),
            ],
            [
                unlock, seal(.whenUnlocked), credential(.setRecoveryKey(recoveryKey)), user(.changeByPrompt(.endRecoveryKey)),
                user(.changeByPrompt(.changePasscode)), user(.changeByPrompt(.makeRecoveryKey)), lock,
                credential(.confirmRecoveryKey, recoveryKey),
                credential(.recover(new: other, newRecoveryKey: recoveryKey), recoveryKey),
                open(.whenUnlocked),
            ],
            [
                seal(.whenUnlocked), credential(.setPasscode(recoveryKey: recoveryKey)),
                open(.whenUnlocked), lock, unlock,
                credential(.removePasscode), open(.whenUnlocked),
                user(.canEvaluate(.biometryOrPasscode)), user(.environment),
            ],
            [
                unlock,
                credential(.configure(LockSettings(graceSeconds: 30, idleSeconds: 120, locksWithScreen: true))),
                user(
                    .changeByPrompt(
                        .configure(
                            before: LockSettings(graceSeconds: 30, idleSeconds: 120, locksWithScreen: true), after: .standard))),
                event(.woke), seal(.whenUnlocked), open(.whenUnlocked), event(.screenLocked(user: 1000)), open(.whenUnlocked),
                event(.sleeping),
                event(.screenUnlocked(user: 1000)),
            ],
            [
                unlock, seal(.always), credential(.erase), open(.always), seal(.always),
                user(.eraseWithoutPasscode(challenge(.set))),
            ],
        ]
    }

    // MARK: Parts of requests

    private static let passcode = clear("correct horse")
    private static let other = clear("battery staple")
    private static let unlock = user(.unlock(challenge(.unlock), passcode))
    private static let lock = user(.lock)
    private static let roll = credential(.changePasscode(new: other, rolls: true))
    private static let oldest = KeyName(purpose: 6, generation: KnownState.generation(.protection(.whenUnlocked)))
    private static let plain = row(.whenUnlocked, nil)
    private static let none = [UInt8](repeating: 0, count: 8)
    private static let recipient = [UInt8](repeating: 0, count: EnclaveRequest.recipientBytes)

    private static var recoveryKey: SealedPasscode {
        let key = RecoveryKey(random: SecretBytes(copying: Array(1...16)))
        return SealedPasscode(encapsulated: Array(repeating: 0, count: 32), ciphertext: key.digits.withUnsafeBytes { Array($0) })
    }

    /// Returns a passcode in plaintext with padding, since no ciphertext is as short as a passcode.
    private static func clear(_ text: String) -> SealedPasscode {
        SealedPasscode(encapsulated: Array(repeating: 0, count: 32), ciphertext: Array(text.utf8) + [UInt8](repeating: 0, count: 16))
    }

    private static func user(_ request: UserRequest) -> EnclaveRequest { .user(request) }

    private static func credential(_ request: CredentialRequest, _ authority: SealedPasscode = passcode) -> EnclaveRequest {
        .user(.credential(request, challenge(request.purpose), authority: authority))
    }

    private static func challenge(_ purpose: PasscodePurpose) -> PasscodeChallenge {
        PasscodeChallenge(nonce: Array(repeating: 0, count: 32), purpose: purpose)
    }

    private static func row(_ protection: ProtectionClass, _ flags: AccessControlFlags?) -> RowBinding {
        KnownState.row(protection, flags).with(generation: none)
    }

    private static func seal(_ protection: ProtectionClass, _ flags: AccessControlFlags? = nil) -> EnclaveRequest {
        .seal(row(protection, flags))
    }

    private static func open(_ protection: ProtectionClass, flags: AccessControlFlags? = nil, reason: String? = nil) -> EnclaveRequest {
        .open(row(protection, flags), wrapped: [0], reason: reason, mayPrompt: true)
    }

    private static func rewrap(_ protection: ProtectionClass) -> EnclaveRequest {
        .rewrap(row(protection, nil), wrapped: [0], generation: none)
    }

    private static func event(_ kind: DeviceEvent.Kind) -> DeviceEvent { DeviceEvent(number: 1, kind) }
}
