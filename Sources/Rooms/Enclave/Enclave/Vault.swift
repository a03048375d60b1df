// One user's keys and state. Every decision about them is made here, under one lock.

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
    /// The next expiration as last computed; `UInt64.max` means that there is none.
    private let lastKnownExpiration = Atomic<UInt64>(.max)
    /// The names in prompts of the teams that the user trusts.
    package let teamNames = TeamNames()

    /// Loads the user's state. Files that cannot be read are set aside and reported, never replaced. The epochs begin with `firstEpoch`.
    package init(user: UInt32, host: EnclaveHost, firstEpoch: Int64 = 0) {
        self.user = user
        self.host = host
        var loaded = VaultState.load(user: user, host: host)
        loaded.epoch = firstEpoch
        state = ThreadMutex(loaded)
    }

    /// Copies a vault onto another host, for tests that explore several continuations of one state.
    package init(copying other: Vault, host: EnclaveHost) {
        user = other.user
        self.host = host
        state = ThreadMutex(other.state.withLock { $0 })
    }

    /// The clock that dates evidence.
    package var boot: UInt64 { host.clock.boot }

    package var status: DeviceStatus {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            let now = host.clock.boot
            let failures = state.attempts?.failures ?? 0
            let wait = state.secondsToWait(now: now)
            let left = wait > 0 ? 0 : max(host.delays.attemptsLeft(afterFailures: failures), 1)
            var status = DeviceStatus(
                lock: state.lockState, cause: state.cause, since: state.since,
                passcodeIsSet: state.keybag?.passcode != nil, attemptsLeft: left, secondsToWait: wait,
                warnings: state.warnings + host.missingProtections)
            status.failedAttempts = state.attempts?.guesses ?? []
            status.recoveryKeyIsSet = state.keybag?.recovery != nil
            status.earlierRecoveryKeyWorks = state.keybag?.earlierRecovery != nil
            status.recovered = state.keybag?.recovered
            status.settings = state.keybag?.settings ?? .standard
            status.hasOlderKeys = state.keybag?.hasOlderClassKeys ?? false
            let biometry = state.conditions(host).biometry
            status.biometry = DeviceStatus.Biometry(
                readerIsPresent: biometry.readerIsPresent, isEnrolled: biometry.enrollment != nil,
                isReady: biometry.refusal(now: now) == nil,
                unlocks: state.keybag?.enrollment?.unlocks ?? false,
                missesLeft: Int64(biometry.armedAt == nil ? 0 : DeviceConditions.Biometry.missesMax - biometry.misses))
            return status
        }
    }

    // MARK: Locking

    /// Locks the device: erases the class-A keys. Leases end with it; the caller recalls `endedEpoch`.
    package func lock(because cause: DeviceStatus.Cause = .lockRequested) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            let (bag, _) = try state.createIfNeeded(host)
            guard bag.passcode != nil else {
                throw Refusal(.passcodeNotSet, "without a passcode the keychain could not be unlocked again; run: vauban passcode set")
            }
            state.lock(cause, host)
        }
    }

    /// Locks because the machine is about to sleep. If the user set a grace period, the next use checks that instead.
    package func handleSleep() { state.withLock { handleSleep(&$0) } }

    func handleSleep(_ state: inout VaultState) {
        state.applyExpirations(host, isUse: false)
        if let settings = state.keybag?.settings, settings.graceSeconds == 0 { state.lock(.slept, host) }
    }

    /// Locks after the grace period following a screen lock, if the user chose that.
    package func handleScreenLock() { state.withLock { handleScreenLock(&$0) } }

    func handleScreenLock(_ state: inout VaultState) {
        state.applyExpirations(host, isUse: false)
        guard let settings = state.keybag?.settings, settings.locksWithScreen else { return }
        state.countScreenLock()
        guard case .unlocked = state.ring else { return }
        if settings.graceSeconds == 0 { return state.lock(.screenLocked, host) }
        // A repeated event does not extend the grace period.
        guard state.pendingLock == nil else { return }
        state.pendingLock = VaultState.PendingLock(
            at: host.clock.boot + UInt64(settings.graceSeconds) * 1_000_000_000, cause: .screenLocked)
    }

    /// Cancels the pending lock, since the user is back within the grace period.
    package func handleScreenUnlock() { state.withLock { handleScreenUnlock(&$0) } }

    func handleScreenUnlock(_ state: inout VaultState) {
        state.applyExpirations(host, isUse: false)
        state.pendingLock = nil
        state.screenIsLocked = false
    }

    /// Forgets that a screen lock was reported, since its end may not have been. The next report counts, at worst once too often. A lock
    /// that waits for its grace period remains due.
    package func forgetScreenLock() { state.withLock { forgetScreenLock(&$0) } }

    func forgetScreenLock(_ state: inout VaultState) {
        state.applyExpirations(host, isUse: false)
        state.screenIsLocked = false
    }

    /// The locks until now. Taken when a passcode arrives, it shows later whether a lock came after that.
    package var lockMark: LockMark {
        state.withLock { state in
            state.applyExpirations(host, isUse: false)
            return state.lockMark
        }
    }

    /// Applies expirations. Returns when the next one is due (boot-time clock); nil if none is.
    package func applyExpirations() -> UInt64? { takeEffects(isComplete: false).nextExpiration }

    /// Applies expirations and returns the effects for the room to apply. This is one step, since every request does it twice.
    package func takeEffects() -> VaultEffects { takeEffects(isComplete: true) }

    private func takeEffects(isComplete: Bool) -> VaultEffects {
        state.withLock { takeEffects(&$0, isComplete: isComplete) }
    }

    func takeEffects(_ state: inout VaultState, isComplete: Bool = true) -> VaultEffects {
        state.applyExpirations(host, isUse: false)
        let effects = isComplete ? state.takeEffects(host) : VaultEffects(nextExpiration: state.nextExpiration)
        lastKnownExpiration.store(effects.nextExpiration ?? .max, ordering: .releasing)
        return effects
    }

    /// When the next expiration is due, as of the last `applyExpirations` or `takeEffects`. Does not wait for the vault's lock.
    package var nextExpiration: UInt64? {
        let known = lastKnownExpiration.load(ordering: .acquiring)
        return known == .max ? nil : known
    }

    /// The epoch to recall from keychaind, until `confirmRecall`. Every lock waits for it, even if another thread's recall is already in
    /// progress.
    package var endedEpoch: RecalledEpoch? { state.withLock { $0.ended } }

    package func confirmRecall(of ended: RecalledEpoch) {
        state.withLock { state in if state.ended == ended { state.ended = nil } }
    }

    // MARK: Policy

    /// Throws unless a policy can succeed.
    package func canEvaluate(_ policy: OwnerPolicy) throws(Refusal) {
        // Without a reader the reply is always the same, whatever else is missing.
        if policy == .biometry, !host.reader.isPresent { throw Refusal(.biometryNotAvailable) }
        // This does not count as a use: an application that polls it must not keep the keychain from locking after idleness.
        switch evaluate(Self.requirement(of: policy), for: .always, Evidence(), isUse: false) {
        case .allow, .prompt: return
        case .refuse(.lockedOut): return
        case .refuse(let reason): throw Refusal(reason)
        }
    }

    package static func requirement(of policy: OwnerPolicy) -> Requirement {
        switch policy {
        case .biometry: Requirement(methods: [[.biometryAny]])
        case .biometryOrPasscode: Requirement(methods: [[.presence]])
        }
    }

    package func evaluate(
        _ requirement: Requirement, for protection: ProtectionClass, _ evidence: Evidence, isUse: Bool = true
    ) -> AccessDecision {
        state.withLock { state in
            state.applyExpirations(host, isUse: isUse)
            return requirement.decision(on: evidence, for: protection, in: state.conditions(host), now: host.clock.boot)
        }
    }
}

extension VaultState {
    func conditions(_ host: EnclaveHost) -> DeviceConditions {
        let now = host.clock.boot
        return DeviceConditions(
            lock: lockState, passcodeIsSet: keybag?.passcode != nil,
            isLockedOut: secondsToWait(now: now) > 0,
            biometry: DeviceConditions.Biometry(
                readerIsPresent: host.reader.isPresent, enrollment: keybag?.enrollment?.generation, armedAt: armed?.at, misses: misses))
    }
}
