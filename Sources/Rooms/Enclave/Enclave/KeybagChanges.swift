// What becomes of a keybag when its passcode, its class keys or its enrollment change. Each function answers the whole new
// keybag; until it is written, nothing has happened.

import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    /// With its first passcode: what the passcode protects is made anew, and what was there is wrapped by the passcode
    /// from now on, as an older generation.
    func settingFirstPasscode(
        _ passcodeKey: borrowing SecretBytes, _ parameters: StretchParameters, backend: some EnclaveBackend
    ) throws(Refusal) -> (Keybag, [HeldKey]) {
        // Those of class D too, under the device as before: a row that lies under a key of before may be sealed to a pair of before.
        let made = KeyPurpose.classes.count
        // Pairs of earlier passcodes leave when no row needs them (`retire`); beyond so many that still wait for it the newest, which lay
        // under the device meanwhile, is taken under the passcode once more in the place of a fresh one.
        let renewsPairs = KeyPurpose.factors.allSatisfy { factor in
            slots.count { $0.purpose == factor } < EnclaveLimits.factorGenerationsMax
        }
        try throwIfFull(adding: made + (renewsPairs ? KeyPurpose.factors.count : 0), ofThemLent: made)
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.passcode = parameters
        bag.recovered = nil
        bag.slots = []
        var held: [HeldKey] = []
        for purpose in KeyPurpose.classes {
            held.append(
                purpose.availability == .always
                    ? try bag.addKey(purpose, .device, deviceKey) : try bag.addKey(purpose, .passcodeAndDevice, passcodeKey))
        }
        for purpose in KeyPurpose.factors where renewsPairs || current(purpose) == nil {
            try bag.addPair(purpose, .passcodeAndDevice, passcodeKey)
        }
        for slot in slots {
            if slot.wrapping == .classKey { continue }
            let key = try open(slot, with: deviceKey)
            let staysWithDevice = slot.purpose.availability == .always
            bag.slots.append(
                staysWithDevice
                    ? try bag.wrap(key, as: slot, .device, deviceKey) : try bag.wrap(key, as: slot, .passcodeAndDevice, passcodeKey))
            if slot.purpose.availability != nil { held.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: key)) }
        }
        try bag.takePrivateKeys(of: self, isRenewed: true, under: held) { (slot) throws(Refusal) in try open(slot, with: deviceKey) }
        return (bag, held)
    }

    /// Under another passcode: the same keys, wrapped again; no item is touched. The recovery key stays good.
    func changingPasscode(
        from oldKey: borrowing SecretBytes, to newKey: borrowing SecretBytes, _ parameters: StretchParameters, backend: some EnclaveBackend
    ) throws(Refusal) -> Keybag {
        var bag = self
        bag.passcode = parameters
        bag.recovered = nil
        bag.slots = []
        for slot in slots {
            guard slot.wrapping == .passcodeAndDevice else { bag.slots.append(slot); continue }
            bag.slots.append(try bag.wrap(try open(slot, with: oldKey), as: slot, .passcodeAndDevice, newKey))
        }
        if let recovery { bag.recovery = try bag.sealed(newKey, to: recovery.publicKey, backend) }
        return bag
    }

    /// With new class keys before the old ones, which stay until no row needs them. Index keys and factor pairs stay:
    /// uniqueness spans the former, and the latter are never in memory; so do the keys of private keys.
    func rollingClassKeys(_ passcodeKey: borrowing SecretBytes, backend: some EnclaveBackend) throws(Refusal) -> Keybag {
        try throwIfFull(adding: KeyPurpose.classes.count, ofThemLent: KeyPurpose.classes.count)
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.slots = []
        var made: [HeldKey] = []
        for purpose in KeyPurpose.classes {
            guard let current = current(purpose) else { continue }
            switch current.wrapping {
            case .device: made.append(try bag.addKey(purpose, .device, deviceKey))
            case .passcodeAndDevice: made.append(try bag.addKey(purpose, .passcodeAndDevice, passcodeKey))
            case .classKey: throw Refusal(.stateUnreadable, "a class key lies under another one")
            }
        }
        bag.slots += slots.filter { $0.wrapping != .classKey }
        try bag.takePrivateKeys(of: self, isRenewed: false, under: made) { (slot) throws(Refusal) in
            slot.wrapping == .device ? try open(slot, with: deviceKey) : try open(slot, with: passcodeKey)
        }
        return bag
    }

    /// Without a passcode: the keys go under the device alone; those of the passcode class and of the enrollment are
    /// destroyed, and so is the way of the recovery key.
    func removingPasscode(_ passcodeKey: borrowing SecretBytes, backend: some EnclaveBackend) throws(Refusal) -> Keybag {
        let deviceKey = try deviceKey(backend)
        var bag = self
        bag.destroy { $0.purpose.isPasscodeClass }
        bag.endEnrollment()
        bag.passcode = nil
        bag.recovery = nil
        bag.recovered = nil
        let kept = bag.slots
        bag.slots = []
        for slot in kept {
            guard slot.wrapping == .passcodeAndDevice else { bag.slots.append(slot); continue }
            bag.slots.append(try bag.wrap(try open(slot, with: passcodeKey), as: slot, .device, deviceKey))
        }
        return bag
    }

    /// With a new enrollment in the place of the one that was, whose pair is destroyed.
    func enrolling(_ fingers: [UInt8], unlocks: Bool, _ passcodeKey: borrowing SecretBytes) throws(Refusal) -> Keybag {
        var bag = self
        bag.endEnrollment()
        try bag.throwIfFull(adding: 1, ofThemLent: 0)
        try bag.addPair(.enrollmentFactor, .passcodeAndDevice, passcodeKey)
        guard let slot = bag.current(.enrollmentFactor) else { throw Refusal(.internalFault) }
        bag.enrollment = Enrollment(generation: slot.generation, fingers: fingers, unlocks: unlocks)
        return bag
    }

    /// The generation of fingers dies, and with it what was sealed to its pair.
    mutating func endEnrollment() {
        destroy { $0.purpose == .enrollmentFactor }
        enrollment = nil
    }

    /// A way for a recovery key to the passcode key of now.
    func sealed(
        _ passcodeKey: borrowing SecretBytes, to publicKey: [UInt8], _ backend: some EnclaveBackend
    ) throws(Refusal) -> RecoveryRecord {
        let deviceKey = try deviceKey(backend)
        do throws(WrapError) {
            return try RecoveryRecord(passcodeKey, to: publicKey, device: deviceKey, for: self)
        } catch {
            throw Refusal(.internalFault, "the recovery key cannot be kept")
        }
    }

    /// A keybag of more slots would not be read again, and a lease of more keys not be understood: either would shut the
    /// user out. One place is left for the pair of an enrollment, which comes without a question.
    private func throwIfFull(adding count: Int, ofThemLent lent: Int) throws(Refusal) {
        guard slots.count + count < EnclaveLimits.slotsMax,
            slots.count(where: { $0.purpose.availability != nil }) + lent <= EnclaveLimits.leasedKeysMax
        else {
            throw Refusal(.unsupported, "this keychain keeps too many older keys; older class keys go when the items were wrapped anew")
        }
    }

    /// With the pairs that a keybag of an earlier version did not have yet; nil when none is missing.
    func completed(_ wrapping: KeySlot.Wrapping, _ wrappingKey: borrowing SecretBytes) throws(Refusal) -> Keybag? {
        let missing = KeyPurpose.factors.filter { current($0) == nil }
        guard !missing.isEmpty else { return nil }
        try throwIfFull(adding: missing.count, ofThemLent: 0)
        var bag = self
        for purpose in missing { try bag.addPair(purpose, wrapping, wrappingKey) }
        return bag
    }
}
