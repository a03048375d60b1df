// The passcode: counted, then compared; set, changed, and used to unlock.

internal import Synchronization
package import VaubanAccessPolicy
package import VaubanSecretBytes

extension Vault {
    /// Compares a passcode, counting the try durably first, and answers the key that it gives. The lock state does not
    /// change by it.
    package func authenticate(_ passcode: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            try state.throwIfUnreadable()
            guard let bag = state.keybag, bag.passcode != nil, var record = state.attempts else { throw Refusal(.passcodeNotSet) }
            try state.throwIfLockedOut(now: host.clock.boot)
            record.failures += 1
            try host.write(record, .attempts, person)
            state.attempts = record
            state.notBefore = host.clock.boot + UInt64(host.delays.delay(afterFailures: record.failures)) * 1_000_000_000
            return bag
        }
        guard let parameters = bag.passcode else { throw Refusal(.passcodeNotSet) }
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters), host.backend)
        let isRight = bag.accepts(passcodeKey: key)
        try state.withLock { (state) throws(Refusal) in
            guard isRight, state.keybag == bag else {
                let failures = state.attempts?.failures ?? 0
                throw Refusal(
                    .authenticationFailed, "the passcode is wrong", triesLeft: host.delays.triesLeft(afterFailures: failures),
                    secondsToWait: state.secondsToWait(now: host.clock.boot))
            }
            let cleared = AttemptRecord(keybag: bag.identifier)
            // If this cannot be written, the tries stay counted on disk: a restart is stricter, never more lenient.
            try? host.write(cleared, .attempts, person)
            state.attempts = cleared
            state.notBefore = 0
        }
        return key
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
            let (bag, _) = try state.created(person: person, host: host)
            try bag.throwIfChanged(since: key)
            let held = try bag.openKeys(.device, with: try bag.deviceKey(host.backend)) + bag.openKeys(.passcodeAndDevice, with: key)
            state.become(KeyRing(unlocked: held), .passcodeEntered, host)
        }
    }

    /// Sets the first passcode. Answers the epoch that ended: every key lent in it is to be given back.
    package func setPasscode(_ passcode: borrowing SecretBytes) throws(Refusal) -> Int64 {
        try Self.throwIfWeak(passcode)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in try state.created(person: person, host: host).0 }
        guard bag.passcode == nil else { throw Refusal(.passcodeAlreadySet) }
        let parameters = host.stretcher.parameters(salt: try Keybag.randomBytes(32))
        let key = try bag.passcodeKey(stretched: try stretch(passcode, parameters), host.backend)
        return try state.withLock { (state) throws(Refusal) -> Int64 in
            guard state.keybag == bag else { throw Refusal(.passcodeAlreadySet) }
            let (protected, held) = try bag.settingFirstPasscode(key, parameters, backend: host.backend)
            try host.write(AttemptRecord(keybag: bag.identifier), .attempts, person)
            try host.write(protected, .keybag, person)
            state.keybag = protected
            state.attempts = AttemptRecord(keybag: bag.identifier)
            state.notBefore = 0
            state.become(KeyRing(unlocked: held), .passcodeSet, host)
            return state.endEpoch()
        }
    }

    /// Wraps the same keys by another passcode. No item is touched, and the lock state stays.
    package func changePasscode(from old: borrowing SecretBytes, to new: borrowing SecretBytes) throws(Refusal) {
        try Self.throwIfWeak(new)
        let oldKey = try authenticate(old)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in try state.created(person: person, host: host).0 }
        let parameters = host.stretcher.parameters(salt: try Keybag.randomBytes(32))
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters), host.backend)
        try state.withLock { (state) throws(Refusal) in
            guard state.keybag == bag else { throw Refusal(.keysChanged, "the passcode was changed meanwhile") }
            try bag.throwIfChanged(since: oldKey)
            let changed = try bag.changingPasscode(from: oldKey, to: newKey, parameters)
            try host.write(changed, .keybag, person)
            state.keybag = changed
        }
    }

    private func stretch(_ passcode: borrowing SecretBytes, _ parameters: StretchParameters) throws(Refusal) -> SecretBytes {
        try derivation.withLock { _ throws(Refusal) -> SecretBytes in
            do throws(PasscodeStretcher.OutOfMemory) {
                return try host.stretcher.stretch(passcode, parameters)
            } catch {
                throw Refusal(.unavailable, "there is too little memory to check a passcode (128 MiB are needed)")
            }
        }
    }

    /// Characters are counted as a person counts them, on a copy that is erased again.
    private static func throwIfWeak(_ passcode: borrowing SecretBytes) throws(Refusal) {
        let characters = passcode.withUnsafeBytes { bytes in
            // UTF-8 continuation bytes are not characters of their own.
            bytes.count { $0 & 0xC0 != 0x80 }
        }
        guard characters >= EnclaveLimits.passcodeCharactersMin else {
            throw Refusal(.passcodeTooWeak, "at least \(EnclaveLimits.passcodeCharactersMin) characters are needed")
        }
        guard passcode.count <= SealedPasscode.passcodeBytesMax else { throw Refusal(.badParameter, "the passcode is too long") }
    }
}

extension VaultState {
    func throwIfLockedOut(now: UInt64) throws(Refusal) {
        let wait = secondsToWait(now: now)
        if wait > 0 { throw Refusal(.lockedOut, triesLeft: 0, secondsToWait: wait) }
    }
}
