// The passcode: counted, then compared; set, changed, and used to unlock.

internal import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

extension Vault {
    /// Compares a passcode, counting the try durably first, and answers the key that it gives. The lock state does not
    /// change by it; fingers count again.
    package func authenticate(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .patient) throws(Refusal)
        -> SecretBytes
    {
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        // The derivation comes before the count: it says nothing about the passcode without the device's key, and a try that
        // waits for its derivation is no try yet.
        let parameters = try parametersOfTry()
        let stretched = try stretch(passcode, parameters, place, for: requester)
        return try state.withLock { (state) throws(Refusal) -> SecretBytes in
            try state.compare(stretched: stretched, parameters, user: user, host: host)
        }
    }

    /// What a try is derived with; refused at once where none would be compared.
    private func parametersOfTry() throws(Refusal) -> StretchParameters {
        try state.withLock { (state) throws(Refusal) -> StretchParameters in
            state.settle(host, isUse: false)
            try state.throwIfUnreadable()
            guard let parameters = state.keybag?.passcode, state.attempts != nil else { throw Refusal(.passcodeNotSet) }
            try state.throwIfLockedOut(now: host.clock.boot)
            return parameters
        }
    }

    /// Says who brought the wrong passcode, for the user to read. The try itself is counted already.
    package func note(_ guess: WrongGuess) {
        state.withLock { state in
            guard var record = state.attempts, record.failures > 0 else { return }
            record.guesses = Array(([guess] + record.guesses).prefix(DeviceStatus.wrongGuessesMax))
            state.attempts = record
            // Best effort: the count, which matters, stands without it.
            _ = try? host.write(record, .attempts, user)
        }
    }

    /// Refuses at once while a delay runs, so that nobody is asked in vain.
    package func throwIfPasscodeCannotBeTried() throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            try state.throwIfUnreadable()
            guard state.keybag?.passcode != nil else { throw Refusal(.passcodeNotSet) }
            try state.throwIfLockedOut(now: host.clock.boot)
        }
    }

    package func unlock(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .patient) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try state.withLock { (state) throws(Refusal) in
            let (found, _) = try state.created(user: user, host: host)
            try found.throwIfChanged(since: key)
            // A keybag of the first version gets the pair that it lacks. Without room for it the user is let in as before.
            if let completed = try? found.completed(.passcodeAndDevice, key) { try? state.replace(completed, user: user, host: host) }
            let (bag, _) = try state.created(user: user, host: host)
            try state.open(bag, with: key, .passcodeEntered, host)
        }
    }

    /// Sets the first passcode, with a recovery key if there is one. Every key that was lent is to be given back.
    package func setPasscode(
        _ passcode: borrowing SecretBytes, recoveryKey: borrowing RecoveryKey? = nil, for requester: DerivationRequester = .patient
    ) throws(Refusal) {
        try throwIfWeak(passcode)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            state.settle(host)
            return try state.created(user: user, host: host).0
        }
        guard bag.passcode == nil else { throw Refusal(.passcodeAlreadySet) }
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester)
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters, place, for: requester), host.backend)
        let recoveryPublicKey = try bag.publicKey(of: recoveryKey)
        try state.withLock { (state) throws(Refusal) in
            guard state.keybag?.passcode == nil, let now = state.keybag, now.identifier == bag.identifier else {
                throw Refusal(.passcodeAlreadySet)
            }
            var (protected, held) = try now.settingFirstPasscode(key, parameters, backend: host.backend)
            if let recoveryPublicKey { protected.recovery = try protected.sealed(key, to: recoveryPublicKey, host.backend) }
            try host.write(AttemptRecord(keybag: bag.identifier), .attempts, user).orThrow()
            try state.replace(protected, user: user, host: host)
            state.attempts = AttemptRecord(keybag: bag.identifier)
            state.notBefore = 0
            state.become(KeyRing(unlocked: held), .passcodeSet, host)
            state.endEpoch(everything: true)
            try state.takeOlderPairs(with: key, host)
        }
    }

    /// Wraps the same keys by another passcode. No item is touched, and the lock state stays. With `rolls`, new class keys
    /// come before the old ones.
    package func changePasscode(
        from old: borrowing SecretBytes, to new: borrowing SecretBytes, rolls: Bool = false, for requester: DerivationRequester = .patient
    ) throws(Refusal) {
        try throwIfWeak(new)
        let oldKey = try authenticate(old, for: requester)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in try state.created(user: user, host: host).0 }
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester, atLeast: bag.passcode)
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters, place, for: requester), host.backend)
        try state.withLock { (state) throws(Refusal) in
            guard let now = state.keybag else { throw Refusal(.keysChanged) }
            try now.throwIfChanged(since: oldKey)
            var changed = try now.changingPasscode(from: oldKey, to: newKey, parameters, backend: host.backend)
            if rolls { changed = try changed.rollingClassKeys(newKey, backend: host.backend) }
            try state.replace(changed, user: user, host: host)
            guard rolls else { return }
            state.suspended = nil
            try state.takeNewKeys(of: changed, with: newKey, host)
            state.endEpoch(everything: true)
            try state.takeOlderPairs(with: newKey, host)
        }
    }

    // MARK: The cost of a guess

    /// A place among the owner's requests for derivations, which is to be left again.
    func enterQueue(_ kind: DerivationKind = .passcode) throws(Refusal) -> DerivationOrder.Place {
        try host.derivations.enter(kind, of: host.owner(user))
    }

    func newParameters(
        _ place: DerivationOrder.Place, for requester: DerivationRequester, atLeast old: StretchParameters? = nil
    ) throws(Refusal) -> StretchParameters {
        let salt = try Keybag.randomBytes(32)
        // Measured within the turn, so that waiting for it counts for nothing.
        return try host.derivations.withTurn(place, for: requester) { () throws(Refusal) -> StretchParameters in
            do throws(PasscodeStretcher.OutOfMemory) {
                return try host.stretcher.parameters(salt: salt, atLeast: old) { host.clock.monotonic }
            } catch {
                throw Self.tooLittleMemory
            }
        }
    }

    func stretch(
        _ passcode: borrowing SecretBytes, _ parameters: StretchParameters, _ place: DerivationOrder.Place,
        for requester: DerivationRequester
    ) throws(Refusal) -> SecretBytes {
        try host.derivations.withTurn(place, for: requester) { () throws(Refusal) -> SecretBytes in
            do throws(PasscodeStretcher.OutOfMemory) {
                return try host.stretcher.stretch(passcode, parameters)
            } catch {
                throw Self.tooLittleMemory
            }
        }
    }

    private static var tooLittleMemory: Refusal {
        Refusal(.unavailable, "there is too little memory to check a passcode (128 MiB are needed, or more)")
    }

    func throwIfWeak(_ passcode: borrowing SecretBytes) throws(Refusal) {
        guard passcode.count <= SealedPasscode.passcodeBytesMax else { throw Refusal(.badParameter, "the passcode is too long") }
        if let why = host.policy.refusal(of: passcode) { throw Refusal(.passcodeTooWeak, why) }
    }
}

extension VaultState {
    /// Counts a try durably, then compares it, in one piece: no other try of this vault is between the two. So tries that come
    /// at the same time are worth what they are worth one after the other, and a crash between the two costs this one try.
    fileprivate mutating func compare(
        stretched: borrowing SecretBytes, _ parameters: StretchParameters, user: UInt32, host: EnclaveHost
    ) throws(Refusal) -> SecretBytes {
        settle(host, isUse: false)
        try throwIfUnreadable()
        guard let bag = keybag, let current = bag.passcode, var record = attempts else { throw Refusal(.passcodeNotSet) }
        guard current == parameters else { throw Refusal(.keysChanged, "the passcode was changed meanwhile") }
        try throwIfLockedOut(now: host.clock.boot)
        record.failures = min(record.failures + 1, AttemptRecord.failuresMax)
        let end = try host.write(record, .attempts, user)
        attempts = record
        // A count that a power cut may take back is counted, and not compared.
        try end.orThrow()
        host.trace?("count p:\(user)")
        let key = try bag.passcodeKey(stretched: stretched, host.backend)
        guard bag.accepts(passcodeKey: key) else {
            // Only now: a try that was not compared delays nobody.
            notBefore = host.clock.boot + UInt64(host.delays.delay(afterFailures: record.failures)) * 1_000_000_000
            throw Refusal(
                .authenticationFailed, "the passcode is wrong", triesLeft: host.delays.triesLeft(afterFailures: record.failures),
                secondsToWait: secondsToWait(now: host.clock.boot))
        }
        lastUse = host.clock.boot
        clearAttempts(user: user, host: host)
        try arm(key, host)
        try takeOlderPairs(with: key, host)
        return key
    }

    /// Opens every key that a passcode key opens.
    mutating func open(
        _ bag: Keybag, with passcodeKey: borrowing SecretBytes, _ cause: DeviceStatus.Cause, _ host: EnclaveHost
    ) throws(Refusal) {
        let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: passcodeKey)
        suspended = nil
        become(KeyRing(unlocked: held), cause, host)
        try takeOlderPairs(with: passcodeKey, host)
    }

    /// New keys come into memory as far as the lock lets them be there.
    fileprivate mutating func takeNewKeys(of bag: Keybag, with passcodeKey: borrowing SecretBytes, _ host: EnclaveHost) throws(Refusal) {
        let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: passcodeKey)
        switch ring?.lock {
        case .unlocked: ring = KeyRing(unlocked: held)
        case .locked: ring = KeyRing(unlocked: held).afterLock
        default: ring = KeyRing(beforeFirstUnlock: held)
        }
    }
}

extension Keybag {
    func publicKey(of recoveryKey: borrowing RecoveryKey?) throws(Refusal) -> [UInt8]? {
        switch recoveryKey {
        case .none: return nil
        case .some(let key):
            do throws(WrapError) { return try RecoveryRecord.publicKey(of: key, for: self) } catch {
                throw Refusal(.internalFault, "the recovery key cannot be used")
            }
        }
    }
}
