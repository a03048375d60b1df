import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanSecretBytes
import VaubanUserModel

/// The environment that a watcher reads; each change of it is reported once (Specs/environment.md).
@Suite struct EnvironmentTests {
    private let bench = Workbench()
    private static let twoDays: UInt64 = 48 * 3600

    /// Returns the environment as letters: P passcode set, R reader, E enrolled, L locked out; p and f for what is usable.
    private func words(_ vault: Vault) -> String {
        let seen = vault.ownerEnvironment
        // A method counts as usable exactly if an evaluation would not refuse it.
        #expect(seen.passcodeIsUsable == (refusal { try vault.canEvaluate(.biometryOrPasscode) } == nil))
        #expect(seen.fingersAreUsable == (refusal { try vault.canEvaluate(.biometry) } == nil))
        #expect(seen.domainState == nil)
        let facts: [(String, Bool)] = [
            ("P", seen.passcodeIsSet), ("R", seen.readerIsPresent), ("E", seen.fingersAreEnrolled), ("L", seen.fingersAreLockedOut),
            ("p", seen.passcodeIsUsable), ("f", seen.fingersAreUsable),
        ]
        return facts.filter(\.1).map(\.0).joined()
    }

    private func expectOneChange(_ vault: Vault, to expected: String, _ what: Comment) {
        #expect(vault.takeEnvironmentChange(), what)
        #expect(!vault.takeEnvironmentChange(), what)
        #expect(words(vault) == expected, what)
    }

    @Test("Each change of the environment is reported once") func eachChangeIsReportedOnce() throws {
        let (vault, reader) = bench.startAtReader()
        expectOneChange(vault, to: "R", "the first look")
        try vault.setPasscode(secret(Workbench.passcode))
        expectOneChange(vault, to: "PRp", "a passcode")
        let key = try vault.authenticate(secret(Workbench.passcode))
        try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: key)
        expectOneChange(vault, to: "PREpf", "a finger")
        try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: key)
        expectOneChange(vault, to: "PREpf", "the same finger once more is another enrollment")
        for _ in 1..<DeviceConditions.Biometry.missesMax { vault.recordFingerMiss() }
        #expect(!vault.takeEnvironmentChange(), "what is left of five is not told")
        vault.recordFingerMiss()
        expectOneChange(vault, to: "PRELp", "five misses")
        _ = try vault.authenticate(secret(Workbench.passcode))
        expectOneChange(vault, to: "PREpf", "the passcode")
        reader.isPresent = false
        expectOneChange(vault, to: "PEp", "the reader is gone")
        reader.isPresent = true
        expectOneChange(vault, to: "PREpf", "the reader is back")
        bench.clock.advance(seconds: Self.twoDays + 1)
        expectOneChange(vault, to: "PRELp", "two days, by time alone")
        try vault.verifyEnrolledFingers(Sample.otherFingers)
        expectOneChange(vault, to: "PRp", "another list of fingers")
        try vault.removePasscode(secret(Workbench.passcode))
        expectOneChange(vault, to: "R", "no passcode")
    }

    @Test("A lock and an unlock are reported once, and unrelated changes are not") func locksAreReportedAndOtherChangesAreNot() throws {
        let (vault, _) = try bench.startEnrolled()
        expectOneChange(vault, to: "PREpf", "the first look")
        try vault.lock()
        expectOneChange(vault, to: "PREpf", "a lock")
        _ = refusal { try vault.unlock(secret("wrong one")) }
        #expect(!vault.takeEnvironmentChange())
        try vault.unlock(secret(Workbench.passcode))
        expectOneChange(vault, to: "PREpf", "an unlock")
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode))
        #expect(!vault.takeEnvironmentChange())
    }

    @Test("A restarted enclave accepts no fingerprint before the passcode")
    func restartedEnclaveAcceptsNoFingerprintBeforeThePasscode() throws {
        _ = try bench.startEnrolled()
        let (restarted, _) = bench.startAtReader()
        expectOneChange(restarted, to: "PRELp", "a restart")
        try restarted.unlock(secret(Workbench.passcode))
        expectOneChange(restarted, to: "PREpf", "the passcode")
    }

    @Test("With unreadable state, no mechanism is usable") func unreadableStateMakesNoMechanismUsable() throws {
        let (vault, _) = try bench.startEnrolled()
        #expect(vault.takeEnvironmentChange())
        bench.store.failReading(with: .failed("the disk is gone"))
        let (unread, _) = bench.startAtReader()
        // Each use reads the file again; that it cannot be read is reported once.
        expectOneChange(unread, to: "R", "a disk that is gone")
        bench.store.failReading(with: nil)
        expectOneChange(unread, to: "PRELp", "and is back")
    }
}
