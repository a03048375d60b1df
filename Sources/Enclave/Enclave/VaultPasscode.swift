// The passcode: counted, then compared; set, changed, and used to unlock.

internal import Synchronization
package import VaubanAccessPolicy
package import VaubanSecretBytes

extension Vault {
    /// Compares a passcode, counting the try durably first, and answers the key that it gives. The lock state does not
    /// change by it; fingers count again.
    package func authenticate(_ passcode: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        // A place in the line comes first: what is not compared is not to be counted.
        try enterLine()
        defer { leaveLine() }
        let (bag, parameters) = try countGuess()
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters), host.backend)
        let isRight = bag.accepts(passcodeKey: key)
        try state.withLock { (state) throws(Refusal) in
            guard isRight, state.keybag?.passcode == parameters, state.keybag?.accepts(passcodeKey: key) == true else {
                let failures = state.attempts?.failures ?? 0
                throw Refusal(
                    .authenticationFailed, "the passcode is wrong", triesLeft: host.delays.triesLeft(afterFailures: failures),
                    secondsToWait: state.secondsToWait(now: host.clock.boot))
            }
            state.lastUse = host.clock.boot
            state.clearAttempts(person: person, host: host)
            try state.arm(key, host)
        }
        return key
    }

    /// Counts a try before anything is computed from it; what cannot be counted is not compared.
    private func countGuess() throws(Refusal) -> (Keybag, StretchParameters) {
        try state.withLock { (state) throws(Refusal) -> (Keybag, StretchParameters) in
            state.settle(host, isUse: false)
            try state.throwIfUnreadable()
            guard let bag = state.keybag, let parameters = bag.passcode, var record = state.attempts else { throw Refusal(.passcodeNotSet) }
            try state.throwIfLockedOut(now: host.clock.boot)
            record.failures = min(record.failures + 1, AttemptRecord.failuresMax)
            let end = try host.write(record, .attempts, person)
            state.attempts = record
            state.notBefore = host.clock.boot + UInt64(host.delays.delay(afterFailures: record.failures)) * 1_000_000_000
            // A count that a power cut may take back is counted, and not compared.
            try end.orThrow()
            host.trace?("count p:\(person)")
            return (bag, parameters)
        }
    }

    /// Says who brought the wrong passcode, for the person to read. The try itself is counted already.
    package func note(_ guess: WrongGuess) {
        state.withLock { state in
            guard var record = state.attempts, record.failures > 0 else { return }
            record.guesses = Array(([guess] + record.guesses).prefix(DeviceStatus.wrongGuessesMax))
            state.attempts = record
            // Best effort: the count, which matters, stands without it.
            _ = try? host.write(record, .attempts, person)
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

    package func unlock(_ passcode: borrowing SecretBytes) throws(Refusal) {
        let key = try authenticate(passcode)
        try state.withLock { (state) throws(Refusal) in
            let (found, _) = try state.created(person: person, host: host)
            try found.throwIfChanged(since: key)
            // A keybag of the first version gets the pair that it lacks. Without room for it the person is let in as before.
            if let completed = try? found.completed(.passcodeAndDevice, key) { try? state.replace(completed, person: person, host: host) }
            let (bag, _) = try state.created(person: person, host: host)
            try state.open(bag, with: key, .passcodeEntered, host)
        }
    }

    /// Sets the first passcode, with a recovery key if there is one. Every key that was lent is to be given back.
    package func setPasscode(_ passcode: borrowing SecretBytes, recoveryKey: borrowing RecoveryKey? = nil) throws(Refusal) {
        try throwIfWeak(passcode)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            state.settle(host)
            return try state.created(person: person, host: host).0
        }
        guard bag.passcode == nil else { throw Refusal(.passcodeAlreadySet) }
        try enterLine()
        defer { leaveLine() }
        let parameters = try newParameters()
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters), host.backend)
        let recoveryPublicKey = try bag.publicKey(of: recoveryKey)
        try state.withLock { (state) throws(Refusal) in
            guard state.keybag?.passcode == nil, let now = state.keybag, now.identifier == bag.identifier else { throw Refusal(.passcodeAlreadySet) }
            var (protected, held) = try now.settingFirstPasscode(key, parameters, backend: host.backend)
            if let recoveryPublicKey { protected.recovery = try protected.sealed(key, to: recoveryPublicKey, host.backend) }
            try host.write(AttemptRecord(keybag: bag.identifier), .attempts, person).orThrow()
            try state.replace(protected, person: person, host: host)
            state.attempts = AttemptRecord(keybag: bag.identifier)
            state.notBefore = 0
            state.become(KeyRing(unlocked: held), .passcodeSet, host)
            state.endEpoch(everything: true)
        }
    }

    /// Wraps the same keys by another passcode. No item is touched, and the lock state stays. With `rolls`, new class keys
    /// come before the old ones.
    package func changePasscode(from old: borrowing SecretBytes, to new: borrowing SecretBytes, rolls: Bool = false) throws(Refusal) {
        try throwIfWeak(new)
        let oldKey = try authenticate(old)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in try state.created(person: person, host: host).0 }
        try enterLine()
        defer { leaveLine() }
        let parameters = try newParameters(atLeast: bag.passcode)
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters), host.backend)
        try state.withLock { (state) throws(Refusal) in
            guard let now = state.keybag else { throw Refusal(.keysChanged) }
            try now.throwIfChanged(since: oldKey)
            var changed = try now.changingPasscode(from: oldKey, to: newKey, parameters, backend: host.backend)
            if rolls { changed = try changed.rollingClassKeys(newKey, backend: host.backend) }
            try state.replace(changed, person: person, host: host)
            guard rolls else { return }
            state.suspended = nil
            try state.takeNewKeys(of: changed, with: newKey, host)
            state.endEpoch(everything: true)
        }
    }

    // MARK: The cost of a guess

    /// A place in the person's line of derivations, which `leaveLine` gives back. Passwords of applications take half of it at most, so
    /// that no program's keep its person from unlocking.
    func enterLine(ofApplication: Bool = false) throws(Refusal) {
        let isIn = deriving.withLock { waiting in
            guard waiting.all < EnclaveLimits.derivationsWaitingMax else { return false }
            if ofApplication, waiting.ofApplications >= EnclaveLimits.derivationsWaitingMax / 2 { return false }
            waiting.all += 1
            if ofApplication { waiting.ofApplications += 1 }
            return true
        }
        if !isIn { throw Refusal(.unavailable, "too many passcodes are being checked at once; try again") }
    }

    func leaveLine(ofApplication: Bool = false) {
        deriving.withLock { waiting in
            waiting.all -= 1
            if ofApplication { waiting.ofApplications -= 1 }
        }
    }

    func newParameters(atLeast old: StretchParameters? = nil) throws(Refusal) -> StretchParameters {
        let salt = try Keybag.randomBytes(32)
        return try derivation.withLock { _ throws(Refusal) -> StretchParameters in
            do throws(PasscodeStretcher.OutOfMemory) {
                return try host.stretcher.parameters(salt: salt, atLeast: old) { host.clock.monotonic }
            } catch {
                throw Self.tooLittleMemory
            }
        }
    }

    func stretch(_ passcode: borrowing SecretBytes, _ parameters: StretchParameters) throws(Refusal) -> SecretBytes {
        try derivation.withLock { _ throws(Refusal) -> SecretBytes in
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
    /// Opens every key that a passcode key opens.
    mutating func open(
        _ bag: Keybag, with passcodeKey: borrowing SecretBytes, _ cause: DeviceStatus.Cause, _ host: EnclaveHost
    ) throws(Refusal) {
        let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: passcodeKey)
        suspended = nil
        become(KeyRing(unlocked: held), cause, host)
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
            do throws(WrapFault) { return try RecoveryRecord.publicKey(of: key, for: self) } catch {
                throw Refusal(.internalFault, "the recovery key cannot be used")
            }
        }
    }
}
