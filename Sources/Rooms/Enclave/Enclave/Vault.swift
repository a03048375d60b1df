// One user's keys and state. Everything that is decided about them is decided here, under one lock.

internal import Synchronization
package import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes
package import VaubanUserModel

package final class Vault: Sendable {
    package let user: UInt32
    let host: EnclaveHost
    let state: ThreadMutex<VaultState>
    /// The largest number for never.
    private let lastKnownDue = Atomic<UInt64>(.max)

    /// Reads the user's state. What cannot be read is put aside and reported, never replaced.
    package init(user: UInt32, host: EnclaveHost) {
        self.user = user
        self.host = host
        state = ThreadMutex(VaultState.load(user: user, host: host))
    }

    /// A vault over the same host that stands where another stood; for tests that try many ways on from one state.
    package init(copying other: Vault, host: EnclaveHost) {
        user = other.user
        self.host = host
        state = ThreadMutex(other.state.withLock { $0 })
    }

    /// The clock by which evidence is dated.
    package var boot: UInt64 { host.clock.boot }

    package var status: DeviceStatus {
        state.withLock { state in
            state.settle(host, isUse: false)
            let now = host.clock.boot
            let failures = state.attempts?.failures ?? 0
            let wait = state.secondsToWait(now: now)
            let left = wait > 0 ? 0 : max(host.delays.triesLeft(afterFailures: failures), 1)
            var status = DeviceStatus(
                lock: state.unreadable == nil ? state.ring?.lock ?? .unlocked : .unreadable, cause: state.cause, since: state.since,
                passcodeIsSet: state.keybag?.passcode != nil, triesLeft: left, secondsToWait: wait,
                warnings: state.warnings + host.missingProtections)
            status.wrongGuesses = state.attempts?.guesses ?? []
            status.recoveryKeyIsSet = state.keybag?.recovery != nil
            status.recovered = state.keybag?.recovered
            status.settings = state.keybag?.settings ?? .standard
            status.hasOlderKeys = state.keybag?.hasOlderClassKeys ?? false
            let biometry = state.circumstances(host).biometry
            status.biometry = DeviceStatus.Biometry(
                readerIsThere: biometry.readerIsThere, isEnrolled: biometry.enrollment != nil, isReady: biometry.refusal(now: now) == nil,
                unlocks: state.keybag?.enrollment?.unlocks ?? false,
                missesLeft: Int64(biometry.armedAt == nil ? 0 : DeviceConditions.Biometry.missesMax - biometry.misses))
            return status
        }
    }

    // MARK: Locking

    /// Erases the class-A keys. What was lent is then to be called back: `endedEpoch`.
    package func lock(because cause: DeviceStatus.Cause = .lockRequested) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            let (bag, _) = try state.created(user: user, host: host)
            guard bag.passcode != nil else {
                throw Refusal(.passcodeNotSet, "without a passcode nothing could unlock again; run: vauban passcode set")
            }
            state.close(cause, host)
        }
    }

    /// The machine goes to sleep: locked at once unless the user gave it a grace, which is then judged at the next use.
    package func machineSleeps() { closeAfterGrace(.slept, if: { $0.graceSeconds == 0 }) }

    /// The screen was locked: the keychain follows, after the grace, if the user chose so.
    package func screenLocked() {
        state.withLock { state in
            state.settle(host, isUse: false)
            guard let settings = state.keybag?.settings, settings.locksWithScreen, case .unlocked = state.ring else { return }
            if settings.graceSeconds == 0 { return state.close(.screenLocked, host) }
            // Said twice, it does not wait twice as long.
            guard state.lockDue == nil else { return }
            state.lockDue = VaultState.LockDue(at: host.clock.boot + UInt64(settings.graceSeconds) * 1_000_000_000, cause: .screenLocked)
        }
    }

    /// The user is back at the screen within the grace.
    package func screenUnlocked() {
        state.withLock { state in
            state.settle(host, isUse: false)
            state.lockDue = nil
        }
    }

    private func closeAfterGrace(_ cause: DeviceStatus.Cause, if isNow: (LockSettings) -> Bool) {
        state.withLock { state in
            state.settle(host, isUse: false)
            if let settings = state.keybag?.settings, isNow(settings) { state.close(cause, host) }
        }
    }

    /// Lets time do what is due, and says when it is due next (boot-time clock).
    package func settle() -> UInt64? { attend(isComplete: false).due }

    /// Lets time do what is due, and hands out at once what others are to hear of it, since every request passes here twice.
    package func attend() -> VaultPrompts { attend(isComplete: true) }

    private func attend(isComplete: Bool) -> VaultPrompts {
        let attention = state.withLock { state in
            state.settle(host, isUse: false)
            return isComplete ? state.takeAttention(host) : VaultPrompts(due: state.nextDue)
        }
        lastKnownDue.store(attention.due ?? .max, ordering: .releasing)
        return attention
    }

    /// When something was due next by the last `settle` or `attend`, without waiting for whoever is in the vault.
    package var due: UInt64? {
        let known = lastKnownDue.load(ordering: .acquiring)
        return known == .max ? nil : known
    }

    /// What must be called back from keychaind, until it `wasCalledBack`: whoever locks waits for it, also where another
    /// thread's recall is on its way already.
    package var endedEpoch: RecalledEpoch? { state.withLock { $0.ended } }

    package func wasCalledBack(_ ended: RecalledEpoch) {
        state.withLock { state in if state.ended == ended { state.ended = nil } }
    }

    // MARK: Policy

    /// Whether a policy can succeed at all.
    package func canEvaluate(_ policy: OwnerPolicy) throws(Refusal) {
        // A machine without a reader says so whatever else is missing.
        if policy == .biometry, !host.reader.isThere { throw Refusal(.biometryNotAvailable) }
        // A look is no use: whoever asks again and again does not keep the keychain from locking by idleness.
        switch judge(Self.requirement(of: policy), for: .always, Evidence(), isUse: false) {
        case .allow, .ask: return
        case .refuse(.lockedOut): return
        case .refuse(let reason): throw Refusal(reason)
        }
    }

    package static func requirement(of policy: OwnerPolicy) -> Requirement {
        switch policy {
        case .biometry: Requirement(ways: [[.biometryAny]])
        case .biometryOrPasscode: Requirement(ways: [[.presence]])
        }
    }

    package func judge(
        _ requirement: Requirement, for protection: Protection, _ evidence: Evidence, isUse: Bool = true
    ) -> AccessDecision {
        state.withLock { state in
            state.settle(host, isUse: isUse)
            return requirement.judge(evidence, for: protection, in: state.circumstances(host), now: host.clock.boot)
        }
    }
}

extension VaultState {
    func circumstances(_ host: EnclaveHost) -> DeviceConditions {
        let now = host.clock.boot
        return DeviceConditions(
            lock: unreadable == nil ? ring?.lock ?? .unlocked : .unreadable, passcodeIsSet: keybag?.passcode != nil,
            isLockedOut: secondsToWait(now: now) > 0,
            biometry: DeviceConditions.Biometry(
                readerIsThere: host.reader.isThere, enrollment: keybag?.enrollment?.generation, armedAt: armed?.at, misses: misses))
    }
}
