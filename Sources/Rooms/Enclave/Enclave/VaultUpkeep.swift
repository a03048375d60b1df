// What ends a passcode or stands in for it: removal, erasure, recovery; and what keychaind reports of old keys.

package import EnclaveWire
internal import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

extension Vault {
    /// Removes the passcode. Items of the passcode class are gone; everything else opens by the device alone.
    package func removePasscode(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .patient) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try state.withLock { (state) throws(Refusal) in
            guard let bag = state.keybag else { throw Refusal(.passcodeNotSet) }
            try bag.throwIfChanged(since: key)
            let open = try bag.removingPasscode(key, backend: host.backend)
            let held = try open.openKeys(.device, with: try open.deviceKey(host.backend))
            try state.replace(open, user: user, host: host)
            state.disarm()
            state.clearAttempts(user: user, host: host)
            state.become(KeyRing(unlocked: held), .passcodeRemoved, host)
            state.endEpoch(everything: true)
        }
    }

    /// Makes everything of this user unreadable for good and begins a new keychain. Without a passcode only where none
    /// is set, or after so many wrong ones that it must have been forgotten.
    package func erase(_ passcode: borrowing SecretBytes?, for requester: DerivationRequester = .patient) throws(Refusal) {
        let isKnown: Bool
        switch passcode {
        case .some(let passcode):
            _ = try authenticate(passcode, for: requester)
            isKnown = true
        case .none: isKnown = false
        }
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            let (bag, _) = try state.created(user: user, host: host)
            guard isKnown || bag.passcode == nil || state.attempts?.failures ?? 0 >= EnclaveLimits.failuresBeforeErasure else {
                throw Refusal(
                    .authenticationFailed,
                    "without the passcode a keychain can be erased only after \(EnclaveLimits.failuresBeforeErasure) wrong ones in a row")
            }
            let (empty, held) = try bag.erased(backend: host.backend)
            // The keybag first: a record of tries that does not fit it counts for nothing while no passcode is set.
            try state.replace(empty, user: user, host: host)
            state.disarm()
            state.clearAttempts(user: user, host: host)
            state.become(KeyRing(unlocked: held), .erased, host)
            state.endEpoch(everything: true)
        }
    }

    /// Sets a new passcode with the recovery key, which is worth nothing afterwards. Not counted: there is no guessing at
    /// 128 random bits, and a delay must not keep out whom it is there for.
    package func recover(
        with recoveryKey: borrowing RecoveryKey, to new: borrowing SecretBytes, newRecoveryKey: borrowing RecoveryKey?,
        for requester: DerivationRequester = .patient
    ) throws(Refusal) {
        try throwIfWeak(new)
        let bag = try state.withLock { (state) throws(Refusal) -> Keybag in
            state.settle(host)
            return try state.created(user: user, host: host).0
        }
        guard bag.passcode != nil, let recovery = bag.recovery else { throw Refusal(.recoveryKeyNotSet) }
        let oldKey = try bag.open(recovery, with: recoveryKey, host.backend)
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester, atLeast: bag.passcode)
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters, place, for: requester), host.backend)
        let publicKey = try bag.publicKey(of: newRecoveryKey)
        try state.withLock { (state) throws(Refusal) in
            guard var now = state.keybag else { throw Refusal(.keysChanged) }
            try now.throwIfChanged(since: oldKey)
            // Taken back or replaced meanwhile, it is worth nothing.
            guard now.recovery == recovery else { throw Refusal(.keysChanged) }
            now.recovery = nil
            var recovered = try now.changingPasscode(from: oldKey, to: newKey, parameters, backend: host.backend)
            if let publicKey { recovered.recovery = try recovered.sealed(newKey, to: publicKey, host.backend) }
            recovered.recovered = host.clock.referenceMicroseconds
            try state.replace(recovered, user: user, host: host)
            state.clearAttempts(user: user, host: host)
            try state.arm(newKey, host)
            try state.open(recovered, with: newKey, .recovered, host)
        }
    }

    /// Another recovery key, or none any more.
    package func setRecoveryKey(
        _ recoveryKey: borrowing RecoveryKey?, passcode: borrowing SecretBytes, for requester: DerivationRequester = .patient
    ) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try changeKeybag { (bag) throws(Refusal) in
            try bag.throwIfChanged(since: key)
            let publicKey = try bag.publicKey(of: recoveryKey)
            bag.recovery = nil
            if let publicKey { bag.recovery = try bag.sealed(key, to: publicKey, host.backend) }
        }
    }

    package func configure(
        _ settings: LockSettings, passcode: borrowing SecretBytes, for requester: DerivationRequester = .patient
    ) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try changeKeybag { (bag) throws(Refusal) in
            try bag.throwIfChanged(since: key)
            bag.settings = settings
        }
    }

    // MARK: Older keys

    package func fate(of name: KeyName) throws(Refusal) -> KeyFate {
        try state.withLock { (state) throws(Refusal) -> KeyFate in
            state.settle(host, isUse: false)
            return try state.created(user: user, host: host).0.fate(of: name)
        }
    }

    /// Destroys older class keys that no row needs any more, as keychaind says, and with the last of them the older pairs, to which no row
    /// can be sealed then. Whoever could say so falsely could delete the rows as well; private keys it does not reach.
    package func retire(_ names: [KeyName]) throws(Refusal) {
        try changeKeybag { (bag) throws(Refusal) in
            for name in names {
                guard let purpose = KeyPurpose(number: name.purpose), KeyPurpose.classes.contains(purpose) else {
                    throw Refusal(.badParameter, "only class keys are retired")
                }
                guard bag.fate(of: name) != .current else { throw Refusal(.badParameter, "the key is in use") }
            }
            bag.destroy { names.contains($0.name) }
            bag.dropUnneededPairs()
        }
        state.withLock { state in
            state.forgetDroppedPairs()
            state.ring = state.ring?.without(names)
            state.suspended = state.suspended?.without(names)
        }
    }

    private func changeKeybag(_ change: (inout Keybag) throws(Refusal) -> Void) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            var (bag, _) = try state.created(user: user, host: host)
            let before = bag
            try change(&bag)
            if bag != before { try state.replace(bag, user: user, host: host) }
        }
    }
}

extension Keybag {
    /// The passcode key that a recovery key brings back.
    fileprivate func open(
        _ recovery: RecoveryRecord, with recoveryKey: borrowing RecoveryKey, _ backend: some EnclaveBackend
    ) throws(Refusal) -> SecretBytes {
        let deviceKey = try deviceKey(backend)
        do throws(WrapError) { return try recovery.open(with: recoveryKey, device: deviceKey, for: self) } catch {
            throw Refusal(.authenticationFailed, "the recovery key is wrong")
        }
    }
}
