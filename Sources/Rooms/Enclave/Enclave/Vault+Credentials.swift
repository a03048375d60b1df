// Credentials: removal of the passcode, erasure, recovery, settings; and keychaind's reports on older keys.

package import EnclaveWire
internal import VaubanLinuxHost
package import VaubanPasscode
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

extension Vault {
    /// Removes the passcode. Destroys the keys of the passcode class; from then on the device alone opens everything else.
    package func removePasscode(_ passcode: borrowing SecretBytes, for requester: DerivationRequester = .unattended) throws(Refusal) {
        let mark = lockMark
        let key = try authenticate(passcode, for: requester)
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host, isUse: false)
            // Without a passcode everything stays open, so this is an unlock too.
            try state.checkNotLocked(since: mark, command: "vauban passcode remove")
            guard let bag = state.keybag else { throw Refusal(.passcodeNotSet) }
            try bag.checkPasscodeUnchanged(since: key)
            let open = try bag.removingPasscode(key, backend: host.backend)
            let held = try open.openKeys(.device, with: try open.deviceKey(host.backend))
            try state.replaceKeybag(open, host)
            state.disarm()
            state.clearAttempts(user: user, host: host)
            state.setKeyRing(KeyRing(unlocked: held), cause: .passcodeRemoved, host: host)
            state.endEpoch(everything: true)
        }
    }

    /// Makes everything of this user permanently unreadable and starts a new keychain. Works without a passcode only if none is set, or
    /// after so many failed attempts that the passcode must have been forgotten.
    package func erase(_ passcode: borrowing SecretBytes?, for requester: DerivationRequester = .unattended) throws(Refusal) {
        let isKnown: Bool
        switch passcode {
        case .some(let passcode):
            _ = try authenticate(passcode, for: requester)
            isKnown = true
        case .none: isKnown = false
        }
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            let (bag, _) = try state.createIfNeeded(host)
            guard isKnown || bag.passcode == nil || state.attempts?.failures ?? 0 >= EnclaveLimits.failuresBeforeErasure else {
                throw Refusal(
                    .authenticationFailed,
                    "without the passcode a keychain can be erased only after \(EnclaveLimits.failuresBeforeErasure) wrong ones in a row")
            }
            let (empty, held) = try bag.erased(backend: host.backend)
            // If it is unsure whether this is stored, the next use of the access log finishes the erasure.
            state.erasing = empty.identifier
            // The keybag is written first: a record of attempts for another keybag is ignored while no passcode is set.
            try state.replaceKeybag(empty, host)
            state.disarm()
            state.clearAttempts(user: user, host: host)
            state.setKeyRing(KeyRing(unlocked: held), cause: .erased, host: host)
            state.endEpoch(everything: true)
            finishErasure(&state)
        }
    }

    /// Finishes an erasure once its keybag is in use: starts the access log over, and removes the names of the teams that were trusted.
    /// Forgets the erasure if another keybag is in use.
    func finishErasure(_ state: inout VaultState) {
        guard let erasing = state.erasing, let keybag = state.keybag else { return }
        state.erasing = nil
        guard keybag.identifier == erasing else { return }
        restartLog(&state)
        teamNames.removeAll()
    }

    /// Sets a new passcode with a valid recovery key. Afterwards only a new recovery key is valid. The attempt is not counted, since 128
    /// random bits cannot be guessed, and a delay must not lock out the user whom it protects. A lock meanwhile is
    /// kept: the new passcode is set, and nothing is unlocked.
    package func recover(
        with recoveryKey: borrowing RecoveryKey, to new: borrowing SecretBytes, newRecoveryKey: borrowing RecoveryKey?,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        try checkStrength(new)
        let (bag, mark) = try state.withLock { (state) throws(Refusal) -> (Keybag, LockMark) in
            state.applyExpirations(host)
            return (try state.createIfNeeded(host).0, state.lockMark)
        }
        let oldKey = try bag.passcodeKey(recoveredWith: recoveryKey, host.backend)
        let place = try enterQueue()
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester, atLeast: bag.passcode)
        let newKey = try bag.passcodeKey(stretched: try stretch(new, parameters: parameters, place: place, for: requester), host.backend)
        let publicKey = try bag.publicKey(of: newRecoveryKey)
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host, isUse: false)
            guard var now = state.keybag else { throw Refusal(.keysChanged) }
            try now.checkPasscodeUnchanged(since: oldKey)
            // The recovery key is void if it was removed or replaced meanwhile.
            guard now.recovery == bag.recovery, now.earlierRecovery == bag.earlierRecovery else { throw Refusal(.keysChanged) }
            now.endRecoveryKeys()
            var recovered = try now.changingPasscode(from: oldKey, to: newKey, parameters, backend: host.backend)
            if let publicKey { recovered.recovery = try recovered.sealed(newKey, to: publicKey, host.backend) }
            recovered.recovered = host.clock.referenceMicroseconds
            try state.replaceKeybag(recovered, host)
            state.clearAttempts(user: user, host: host)
            try state.arm(newKey, host)
            // Refusing would let a program that locks in a loop prevent every recovery.
            if mark == state.lockMark { try state.open(recovered, with: newKey, cause: .recovered, host: host) }
        }
    }

    /// Makes a recovery key. The previous one is valid until the new one is confirmed. With nil, none is valid any more.
    package func setRecoveryKey(
        _ recoveryKey: borrowing RecoveryKey?, passcode: borrowing SecretBytes, for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try changeKeybag { (bag) throws(Refusal) in
            try bag.checkPasscodeUnchanged(since: key)
            let publicKey = try bag.publicKey(of: recoveryKey)
            guard let publicKey else { return bag.endRecoveryKeys() }
            bag.addRecoveryKey(try bag.sealed(key, to: publicKey, host.backend))
        }
    }

    /// Ends an earlier recovery key. The given key proves that the user has the newest one.
    package func confirmRecoveryKey(_ recoveryKey: borrowing RecoveryKey) throws(Refusal) {
        try changeKeybag { (bag) throws(Refusal) in try bag.confirm(recoveryKey, host.backend) }
    }

    /// Ends an earlier recovery key, because the user has confirmed to have the newest one where it was shown. Throws `recoveryKeyNotSet`
    /// if the key with this public half is not the newest any more.
    package func confirmRecoveryKey(withPublicKey publicKey: [UInt8]?) throws(Refusal) {
        try changeKeybag { (bag) throws(Refusal) in
            guard bag.passcode != nil, let publicKey, bag.recovery?.publicKey == publicKey else { throw Refusal(.recoveryKeyNotSet) }
            bag.earlierRecovery = nil
        }
    }

    package func configure(
        _ settings: LockSettings, passcode: borrowing SecretBytes, for requester: DerivationRequester = .unattended
    ) throws(Refusal) {
        let key = try authenticate(passcode, for: requester)
        try changeKeybag { (bag) throws(Refusal) in
            try bag.checkPasscodeUnchanged(since: key)
            bag.settings = settings
        }
    }

    // MARK: Older keys

    package func keyStatus(of name: KeyName) throws(Refusal) -> KeyStatus {
        try state.withLock { (state) throws(Refusal) -> KeyStatus in
            state.applyExpirations(host, isUse: false)
            return try state.createIfNeeded(host).0.keyStatus(of: name)
        }
    }

    /// Destroys older class keys that, according to keychaind, no row needs any more. With the last of them it destroys the older pairs, to
    /// which then no row can be sealed. A room that lied about this could also delete the rows; private keys are not affected.
    package func retire(_ names: [KeyName]) throws(Refusal) {
        try changeKeybag { (bag) throws(Refusal) in
            for name in names {
                guard let purpose = KeyPurpose(number: name.purpose), KeyPurpose.classes.contains(purpose) else {
                    throw Refusal(.badParameter, "Only class keys can be retired")
                }
                guard bag.keyStatus(of: name) != .current else { throw Refusal(.badParameter, "The key is in use") }
            }
            bag.destroy { names.contains($0.name) }
            bag.removeUnneededPairs()
        }
        state.withLock { state in
            state.discardRemovedPairs()
            state.updateKeyRing { $0.without(names) }
            state.suspended = state.suspended?.without(names)
        }
    }

    /// Changes the keybag, unless the keychain was locked or its keys changed since an epoch; nil means any epoch.
    func changeKeybag(since epoch: Int64? = nil, _ change: (inout Keybag) throws(Refusal) -> Void) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            try state.checkUnchanged(since: epoch)
            var (bag, _) = try state.createIfNeeded(host)
            let before = bag
            try change(&bag)
            if bag != before { try state.replaceKeybag(bag, host) }
        }
    }
}
