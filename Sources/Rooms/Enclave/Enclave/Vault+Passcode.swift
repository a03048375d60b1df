// The passcode: an attempt is counted before it is compared; a passcode is set, changed, and used to unlock.

internal import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

extension Vault {
    /// Verifies a passcode after counting the attempt durably, and returns the passcode key. Does not change the lock state; arms
    /// fingerprints again.
    package func authenticate(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .unattended) throws(Refusal)
        -> SecretBytes
    {
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        // The derivation precedes the count: without the device's key its result reveals nothing about the passcode, and an attempt that is
        // still queued has not been made.
        let parameters = try parametersOfTry()
        let stretched = try stretch(passcode, parameters: parameters, place: place, for: requester)
        return try state.withLock { (state) throws(Refusal) -> SecretBytes in
            try state.compare(stretched: stretched, parameters, user: user, host: host)
        }
    }

    /// Returns the parameters of an attempt. Throws at once if it would not be compared.
    private func parametersOfTry() throws(Refusal) -> StretchParameters {
        try state.withLock { (state) throws(Refusal) -> StretchParameters in
            state.applyExpirations(host, isUse: false)
            try state.checkReadable()
            guard let parameters = state.keybag?.passcode, state.attempts != nil else { throw Refusal(.passcodeNotSet) }
            try state.checkNotLockedOut(now: host.clock.boot)
            return parameters
        }
    }

    /// Records the program that brought a wrong passcode, to show it to the user. The attempt itself is already counted.
    package func record(_ attempt: FailedAttempt) {
        state.withLock { state in
            guard var record = state.attempts, record.failures > 0 else { return }
            record.guesses = Array(([attempt] + record.guesses).prefix(DeviceStatus.failedAttemptsMax))
            state.attempts = record
            // A failure is ignored, since the count, which decides, does not depend on this.
            _ = try? host.write(record, to: .attempts, user: user)
        }
    }

    /// Throws during a delay, so that no prompt is in vain.
    package func checkPasscodeCanBeTried() throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            try state.checkReadable()
            guard state.keybag?.passcode != nil else { throw Refusal(.passcodeNotSet) }
            try state.checkNotLockedOut(now: host.clock.boot)
        }
    }

    /// Unlocks with a passcode, unless a lock comes while it is derived.
    package func unlock(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .unattended) throws(Refusal) {
        let mark = lockMark
        try unlock(withKey: try authenticate(passcode, for: requester), enteredAt: mark)
    }

    /// Unlocks with the key of a passcode that was just authenticated and entered at `mark`. Throws `locked` if a lock came after that: the
    /// user who locked expects the keychain to stay locked. If it was unlocked again since, nothing is left to do.
    package func unlock(withKey key: borrowing SecretBytes, enteredAt mark: LockMark) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host, isUse: false)
            if mark != state.lockMark, case .unlocked = state.ring { return }
            try state.checkNotLocked(since: mark, command: "vauban unlock")
            let (found, _) = try state.createIfNeeded(host)
            try found.checkPasscodeUnchanged(since: key)
            // A keybag of version 1 gets the pair that it lacks. If there is no room for it, the unlock still succeeds.
            if let completed = try? found.completed(.passcodeAndDevice, key) { try? state.replaceKeybag(completed, host) }
            let (bag, _) = try state.createIfNeeded(host)
            try state.open(bag, with: key, cause: .passcodeEntered, host: host)
        }
    }

    /// Sets the first passcode, with an optional recovery key. Ends all leases.
    package func setPasscode(
        _ passcode: borrowing SecretBytes, recoveryKey: borrowing RecoveryKey? = nil, for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        try checkStrength(passcode)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            state.applyExpirations(host)
            return try state.createIfNeeded(host).0
        }
        guard bag.passcode == nil else { throw Refusal(.passcodeAlreadySet) }
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester)
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters: parameters, place: place, for: requester), host.backend)
        let recoveryPublicKey = try bag.publicKey(of: recoveryKey)
        try state.withLock { (state) throws(Refusal) in
            guard state.keybag?.passcode == nil, let now = state.keybag, now.identifier == bag.identifier else {
                throw Refusal(.passcodeAlreadySet)
            }
            var (protected, held) = try now.settingFirstPasscode(key, parameters, backend: host.backend)
            if let recoveryPublicKey { protected.recovery = try protected.sealed(key, to: recoveryPublicKey, host.backend) }
            try host.write(AttemptRecord(keybag: bag.identifier), to: .attempts, user: user).throwIfUnsure()
            try state.replaceKeybag(protected, host)
            state.attempts = AttemptRecord(keybag: bag.identifier)
            state.notBefore = 0
            state.setKeyRing(KeyRing(unlocked: held), cause: .passcodeSet, host: host)
            state.endEpoch(everything: true)
            try state.loadResealingKeys(with: key, host)
        }
    }

    /// Wraps the same keys with another passcode. Changes neither items nor the lock state. With `rolls`, adds new class keys before the
    /// old ones.
    package func changePasscode(
        from old: borrowing SecretBytes, to new: borrowing SecretBytes, rolls: Bool = false,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        try checkStrength(new)
        try changePasscode(withKey: try authenticate(old, for: requester), to: new, rolls: rolls, for: requester)
    }

    /// Does the same with the key of a passcode that was just authenticated, unless the keychain was locked or its keys changed since an
    /// epoch; nil means any epoch.
    package func changePasscode(
        withKey oldKey: borrowing SecretBytes, to new: borrowing SecretBytes, rolls: Bool = false, since epoch: Int64? = nil,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        try checkStrength(new)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            state.applyExpirations(host)
            return try state.createIfNeeded(host).0
        }
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester, atLeast: bag.passcode)
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters: parameters, place: place, for: requester), host.backend)
        try state.withLock { (state) throws(Refusal) in
            if epoch != nil { state.applyExpirations(host) }
            try state.checkUnchanged(since: epoch)
            guard let now = state.keybag else { throw Refusal(.keysChanged) }
            try now.checkPasscodeUnchanged(since: oldKey)
            var changed = try now.changingPasscode(from: oldKey, to: newKey, parameters, backend: host.backend)
            if rolls { changed = try changed.rollingClassKeys(newKey, backend: host.backend) }
            try state.replaceKeybag(changed, host)
            guard rolls else { return }
            state.suspended = nil
            try state.loadNewKeys(of: changed, with: newKey, host)
            state.endEpoch(everything: true)
            try state.loadResealingKeys(with: newKey, host)
        }
    }

    // MARK: Derivations

    /// Reserves a place among the owner's derivations. The caller must release it.
    func enterQueue(_ kind: DerivationKind = .passcode) throws(Refusal) -> DerivationOrder.Place {
        try host.derivations.enter(kind, of: host.owner(user))
    }

    func newParameters(
        _ place: DerivationOrder.Place, for requester: DerivationRequester, atLeast old: StretchParameters? = nil
    ) throws(Refusal) -> StretchParameters {
        let salt = try Keybag.randomBytes(32)
        // Measured within the turn, so that the time in the queue does not count.
        return try host.derivations.withTurn(place, for: requester) { () throws(Refusal) -> StretchParameters in
            try host.stretcher.parameters(salt: salt, atLeast: old) { host.clock.monotonic }
        }
    }

    func stretch(
        _ passcode: borrowing SecretBytes, parameters: StretchParameters, place: DerivationOrder.Place,
        for requester: DerivationRequester
    ) throws(Refusal) -> SecretBytes {
        try host.derivations.withTurn(place, for: requester) { () throws(Refusal) -> SecretBytes in
            try host.stretcher.stretch(passcode, parameters)
        }
    }

    package func checkStrength(_ passcode: borrowing SecretBytes) throws(Refusal) {
        guard passcode.count <= SealedPasscode.passcodeBytesMax else { throw Refusal(.badParameter, "The passcode is too long") }
        if let why = host.policy.refusal(of: passcode) { throw Refusal(.passcodeTooWeak, why) }
    }
}

extension VaultState {
    /// Counts an attempt durably and then compares it, with no other attempt of this vault in between. Parallel attempts therefore gain
    /// nothing over sequential ones, and a crash between the two steps costs this one attempt.
    fileprivate mutating func compare(
        stretched: borrowing SecretBytes, _ parameters: StretchParameters, user: UInt32, host: EnclaveHost
    ) throws(Refusal) -> SecretBytes {
        applyExpirations(host, isUse: false)
        try checkReadable()
        guard let bag = keybag, let current = bag.passcode, var record = attempts else { throw Refusal(.passcodeNotSet) }
        guard current == parameters else { throw Refusal(.keysChanged, "The passcode was changed meanwhile; try again") }
        try checkNotLockedOut(now: host.clock.boot)
        record.failures = min(record.failures + 1, AttemptRecord.failuresMax)
        let end = try host.write(record, to: .attempts, user: user)
        attempts = record
        // An attempt whose count a power failure may undo is counted but not compared.
        try end.throwIfUnsure()
        host.trace?("count p:\(user)")
        let key = try bag.passcodeKey(stretched: stretched, host.backend)
        guard bag.accepts(passcodeKey: key) else {
            // Set only now, since an attempt that was not compared causes no delay.
            notBefore = host.clock.boot + UInt64(host.delays.delay(afterFailures: record.failures)) * 1_000_000_000
            throw Refusal(
                .authenticationFailed, "the passcode is wrong", attemptsLeft: host.delays.attemptsLeft(afterFailures: record.failures),
                secondsToWait: secondsToWait(now: host.clock.boot))
        }
        lastUse = host.clock.boot
        clearAttempts(user: user, host: host)
        try arm(key, host)
        try loadResealingKeys(with: key, host)
        return key
    }

    /// Opens every key that the passcode key opens, and unlocks.
    mutating func open(
        _ bag: Keybag, with passcodeKey: borrowing SecretBytes, cause: DeviceStatus.Cause, host: EnclaveHost
    ) throws(Refusal) {
        let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: passcodeKey)
        suspended = nil
        setKeyRing(KeyRing(unlocked: held), cause: cause, host: host)
        try loadResealingKeys(with: passcodeKey, host)
    }

    /// Loads new keys as far as the lock state permits.
    fileprivate mutating func loadNewKeys(of bag: Keybag, with passcodeKey: borrowing SecretBytes, _ host: EnclaveHost) throws(Refusal) {
        let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: passcodeKey)
        updateKeyRing { ring in
            switch ring.lock {
            case .unlocked: KeyRing(unlocked: held)
            case .locked: KeyRing(unlocked: held).afterLock
            default: KeyRing(beforeFirstUnlock: held)
            }
        }
    }
}
