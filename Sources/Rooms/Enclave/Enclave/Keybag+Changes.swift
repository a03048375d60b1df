// Changes of a keybag when its passcode, its class keys or its enrollment change. Each function returns a complete new keybag; nothing
// changes until that is written.

import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    /// Returns the keybag with its first passcode. Keys that the passcode protects are renewed; existing keys become older generations
    /// wrapped by the passcode.
    func settingFirstPasscode(
        _ passcodeKey: borrowing SecretBytes, _ parameters: StretchParameters, backend: some EnclaveBackend
    ) throws(Refusal) -> (Keybag, [HeldKey]) {
        // Class D gets new keys too, still wrapped by the device, since a row under one of the old keys may be sealed to an old pair.
        let made = KeyPurpose.classes.count
        // Pairs of earlier passcodes are removed when no row needs them (`retire`). If too many exist, there is no new pair: the passcode
        // wraps the newest existing pair again, which the device wrapped meanwhile.
        let renewsPairs = KeyPurpose.factors.allSatisfy { factor in
            slots.count { $0.purpose == factor } < EnclaveLimits.factorGenerationsMax
        }
        try checkCapacity(adding: made + (renewsPairs ? KeyPurpose.factors.count : 0), leased: made)
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.passcode = parameters
        bag.recovered = nil
        bag.slots = []
        var held: [HeldKey] = []
        for purpose in KeyPurpose.classes {
            held.append(
                purpose.availability == .always
                    ? try bag.addKey(purpose, wrapping: .device, wrappingKey: deviceKey)
                    : try bag.addKey(purpose, wrapping: .passcodeAndDevice, wrappingKey: passcodeKey))
        }
        for purpose in KeyPurpose.factors where renewsPairs || current(purpose) == nil {
            try bag.addPair(purpose, wrapping: .passcodeAndDevice, wrappingKey: passcodeKey)
        }
        for slot in slots {
            if slot.wrapping == .classKey { continue }
            let key = try open(slot, with: deviceKey)
            let staysWithDevice = slot.purpose.availability == .always
            bag.slots.append(
                staysWithDevice
                    ? try bag.wrap(key, as: slot, wrapping: .device, wrappingKey: deviceKey)
                    : try bag.wrap(key, as: slot, wrapping: .passcodeAndDevice, wrappingKey: passcodeKey))
            if slot.purpose.availability != nil { held.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: key)) }
        }
        try bag.adoptPrivateKeys(of: self, isRenewed: true, under: held) { (slot) throws(Refusal) in try open(slot, with: deviceKey) }
        return (bag, held)
    }

    /// Returns the keybag under another passcode: the same keys, wrapped again. No item changes, and recovery keys stay valid.
    func changingPasscode(
        from oldKey: borrowing SecretBytes, to newKey: borrowing SecretBytes, _ parameters: StretchParameters, backend: some EnclaveBackend
    ) throws(Refusal) -> Keybag {
        var bag = self
        bag.passcode = parameters
        bag.recovered = nil
        bag.slots = []
        for slot in slots {
            guard slot.wrapping == .passcodeAndDevice else { bag.slots.append(slot); continue }
            bag.slots.append(try bag.wrap(try open(slot, with: oldKey), as: slot, wrapping: .passcodeAndDevice, wrappingKey: newKey))
        }
        if let recovery { bag.recovery = try bag.sealed(newKey, to: recovery.publicKey, backend) }
        if let earlierRecovery { bag.earlierRecovery = try bag.sealed(newKey, to: earlierRecovery.publicKey, backend) }
        return bag
    }

    /// Returns the keybag with new class keys before the old ones, which stay until no row needs them. Index keys stay, since uniqueness
    /// spans them. Factor pairs stay, since they are never in memory. The keys that wrap private keys stay too.
    func rollingClassKeys(_ passcodeKey: borrowing SecretBytes, backend: some EnclaveBackend) throws(Refusal) -> Keybag {
        try checkCapacity(adding: KeyPurpose.classes.count, leased: KeyPurpose.classes.count)
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.slots = []
        var made: [HeldKey] = []
        for purpose in KeyPurpose.classes {
            guard let current = current(purpose) else { continue }
            switch current.wrapping {
            case .device: made.append(try bag.addKey(purpose, wrapping: .device, wrappingKey: deviceKey))
            case .passcodeAndDevice: made.append(try bag.addKey(purpose, wrapping: .passcodeAndDevice, wrappingKey: passcodeKey))
            case .classKey: throw Refusal(.stateUnreadable, "a class key is wrapped by another one")
            }
        }
        bag.slots += slots.filter { $0.wrapping != .classKey }
        try bag.adoptPrivateKeys(of: self, isRenewed: false, under: made) { (slot) throws(Refusal) in
            slot.wrapping == .device ? try open(slot, with: deviceKey) : try open(slot, with: passcodeKey)
        }
        return bag
    }

    /// Returns the keybag without a passcode: the device alone wraps the keys. Keys of the passcode class and of the enrollment are
    /// destroyed, and the recovery keys end.
    func removingPasscode(_ passcodeKey: borrowing SecretBytes, backend: some EnclaveBackend) throws(Refusal) -> Keybag {
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.destroy { $0.purpose.isPasscodeClass }
        bag.endEnrollment()
        bag.passcode = nil
        bag.endRecoveryKeys()
        bag.recovered = nil
        let kept = bag.slots
        bag.slots = []
        for slot in kept {
            guard slot.wrapping == .passcodeAndDevice else { bag.slots.append(slot); continue }
            bag.slots.append(try bag.wrap(try open(slot, with: passcodeKey), as: slot, wrapping: .device, wrappingKey: deviceKey))
        }
        return bag
    }

    /// Returns the keybag with a new enrollment. The previous enrollment's pair is destroyed.
    func enrolling(_ fingers: [UInt8], unlocks: Bool, _ passcodeKey: borrowing SecretBytes) throws(Refusal) -> Keybag {
        var bag = self
        bag.endEnrollment()
        try bag.checkCapacity(adding: 1, leased: 0)
        try bag.addPair(.enrollmentFactor, wrapping: .passcodeAndDevice, wrappingKey: passcodeKey)
        guard let slot = bag.current(.enrollmentFactor) else { throw Refusal(.internalError) }
        bag.enrollment = Enrollment(generation: slot.generation, fingers: fingers, unlocks: unlocks)
        return bag
    }

    /// Destroys the enrollment's factor pair, and with it everything sealed to it.
    mutating func endEnrollment() {
        destroy { $0.purpose == .enrollmentFactor }
        enrollment = nil
    }

    /// Throws if the keybag has no room. A keybag with more slots could not be read again, and keychaind would not accept a lease of more
    /// keys: either would lock the user out. One slot is reserved for the pair of an enrollment.
    private func checkCapacity(adding count: Int, leased: Int) throws(Refusal) {
        guard slots.count + count < EnclaveLimits.slotsMax,
            slots.count(where: { $0.purpose.availability != nil }) + leased <= EnclaveLimits.leasedKeysMax
        else {
            throw Refusal(.unsupported, "This keychain keeps too many older keys; they are removed when its items have been rewrapped")
        }
    }

    /// Returns the keybag with the factor pairs that an earlier version lacks; nil if it has all of them.
    func completed(_ wrapping: KeySlot.Wrapping, _ wrappingKey: borrowing SecretBytes) throws(Refusal) -> Keybag? {
        let missing = KeyPurpose.factors.filter { current($0) == nil }
        guard !missing.isEmpty else { return nil }
        try checkCapacity(adding: missing.count, leased: 0)
        var bag = self
        for purpose in missing { try bag.addPair(purpose, wrapping: wrapping, wrappingKey: wrappingKey) }
        return bag
    }
}
