import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanPasscode
import VaubanSecretBytes
import VaubanUserModel

/// Every use of a vault, since each could be the first one after time has passed or after a file was damaged.
struct EveryUse: Sendable, CustomTestStringConvertible {
    let name: String
    let perform: @Sendable (Vault) throws -> Void
    var testDescription: String { name }

    private static let row = Sample.row(.whenUnlocked, generation: Sample.lostGeneration)
    private static let key = KeyName(purpose: ProtectionClass.whenUnlocked.number, generation: Sample.lostGeneration)
    private static let finger = Evidence.Finger(at: 0, enrollment: Sample.lostGeneration)
    private static var wrong: SecretBytes { secret("wrong one") }
    private static var other: SecretBytes { secret(Workbench.otherPasscode) }
    private static let settings = LockSettings(graceSeconds: 1, idleSeconds: 1, locksWithScreen: true)
    static let recoveryBytes = [UInt8](0..<16)
    static var recoveryKey: RecoveryKey { RecoveryKey(random: SecretBytes(copying: recoveryBytes)) }

    /// The uses that throw a refusal, and refuse unreadable state.
    static let refusable: [EveryUse] = [
        EveryUse(name: "seal") { _ = try $0.seal(row) },
        EveryUse(name: "open") { _ = try $0.open(row, wrapped: [0]) },
        EveryUse(name: "rewrap") { _ = try $0.rewrap(row, wrapped: [0], to: Sample.lostGeneration) },
        EveryUse(name: "lease") { _ = try $0.lease() },
        EveryUse(name: "keyStatus") { _ = try $0.keyStatus(of: key) },
        EveryUse(name: "retire") { try $0.retire([key]) },
        EveryUse(name: "lock") { try $0.lock() },
        EveryUse(name: "canEvaluate") { try $0.canEvaluate(.biometryOrPasscode) },
        EveryUse(name: "authenticate") { _ = try $0.authenticate(wrong) },
        EveryUse(name: "unlock") { try $0.unlock(wrong) },
        EveryUse(name: "setPasscode") { try $0.setPasscode(secret(Workbench.passcode)) },
        EveryUse(name: "changePasscode") { try $0.changePasscode(from: wrong, to: other) },
        EveryUse(name: "removePasscode") { try $0.removePasscode(wrong) },
        EveryUse(name: "erase with a passcode") { try $0.eraseWith("wrong one") },
        EveryUse(name: "erase without") { try $0.eraseWith(nil) },
        EveryUse(name: "recover") { try $0.recover(with: recoveryKey, to: other, newRecoveryKey: nil) },
        EveryUse(name: "setRecoveryKey") { try $0.setRecoveryKey(nil, passcode: wrong) },
        EveryUse(name: "confirmRecoveryKey") { try $0.confirmRecoveryKey(recoveryKey) },
        EveryUse(name: "configure") { try $0.configure(settings, passcode: wrong) },
        EveryUse(name: "prepare") { _ = try $0.prepare(.configure(before: .standard, after: settings)) },
        EveryUse(name: "configure by a key") { try $0.configure(settings, replacing: .standard, passcodeKey: wrong) },
        EveryUse(name: "prepare a passcode") { _ = try $0.prepare(.changePasscode) },
        EveryUse(name: "changePasscode by a key") { try $0.changePasscode(withKey: wrong, to: other) },
        EveryUse(name: "endEnrollment") { try $0.endEnrollment(passcodeKey: wrong) },
        EveryUse(name: "enroll") { try $0.enroll(fingers: Sample.fingers, unlocks: true, passcodeKey: wrong) },
    ]

    /// The uses that cannot refuse.
    private static let silent: [EveryUse] = [
        EveryUse(name: "status") { _ = $0.status },
        EveryUse(name: "ownerEnvironment") { _ = $0.ownerEnvironment },
        EveryUse(name: "takeEnvironmentChange") { _ = $0.takeEnvironmentChange() },
        EveryUse(name: "applyExpirations") { _ = $0.applyExpirations() },
        EveryUse(name: "takeEffects") { _ = $0.takeEffects() },
        EveryUse(name: "evaluate") { _ = $0.evaluate(.none, for: .always, Evidence()) },
        EveryUse(name: "machineSleeps") { $0.handleSleep() },
        EveryUse(name: "screenLocked") { $0.handleScreenLock() },
        EveryUse(name: "screenUnlocked") { $0.handleScreenUnlock() },
        EveryUse(name: "screenIsUnknown") { $0.forgetScreenLock() },
        EveryUse(name: "canUnlockByFinger") { _ = $0.canUnlockByFinger },
        EveryUse(name: "fingerRefusal") { _ = $0.fingerRefusal },
        EveryUse(name: "fingerMissed") { $0.recordFingerMiss() },
        EveryUse(name: "fingerMatched") { _ = try $0.acceptFingerMatch(fingers: Sample.fingers) },
        EveryUse(name: "verifyEnrolledFingers") { try $0.verifyEnrolledFingers(Sample.fingers) },
        EveryUse(name: "unlock by finger") { try $0.unlock(by: finger, secret("held")) },
    ]

    /// All uses that apply expirations.
    static let syncing = refusable + silent
}

extension Vault {
    func eraseWith(_ passcode: String?) throws {
        let given: SecretBytes? = if let passcode { secret(passcode) } else { nil }
        try erase(given)
    }

    func setPasscode(_ passcode: String, recovery bytes: [UInt8]) throws {
        let key: RecoveryKey? = RecoveryKey(random: SecretBytes(copying: bytes))
        try setPasscode(secret(passcode), recoveryKey: key)
    }
}
