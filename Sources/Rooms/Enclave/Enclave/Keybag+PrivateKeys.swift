// The keys that wrap private keys: one for each class with private keys. The class key wraps it, so that it is available exactly when the
// class is unlocked.

import EnclaveWire
import VaubanAccessPolicy
import VaubanKeyWire
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    /// Returns the key that wraps new private keys of a class, with the keybag that contains it. Adds the key at its first use.
    func keyForPrivateKeys(_ protection: ProtectionClass, under classKey: HeldKey) throws(Refusal) -> (HeldKey, Keybag) {
        let purpose = KeyPurpose.privateKeys(protection)
        if let slot = current(purpose) {
            return (HeldKey(purpose: purpose, generation: slot.generation, key: try open(slot, with: classKey.key)), self)
        }
        guard slots.count < EnclaveLimits.slotsMax else {
            throw Refusal(.unsupported, "This keychain keeps too many older keys; they are removed when its items have been rewrapped")
        }
        var bag = self
        return (try bag.addKey(purpose, wrapping: .classKey, wrappingKey: classKey.key), bag)
    }

    /// Returns the key that wraps one private key. Throws if its class is locked, or if the key is destroyed or unknown.
    func keyOf(_ key: EnclaveKey, in ring: KeyRing) throws(Refusal) -> SecretBytes {
        let classKey = try checkClassIsOpen(key, in: ring)
        let purpose = KeyPurpose.privateKeys(key.control.protection)
        guard let slot = slots.first(where: { $0.purpose == purpose && $0.generation == key.generation }) else {
            throw Refusal(.keyOfAnotherDevice)
        }
        return try open(slot, with: classKey.key)
    }

    /// Returns the key of its class. Throws if the class is locked.
    @discardableResult
    func checkClassIsOpen(_ key: EnclaveKey, in ring: KeyRing) throws(Refusal) -> HeldKey {
        guard key.user == user else { throw Refusal(.keyOfAnotherDevice, "the key is another user's") }
        let protection = key.control.protection
        switch keyStatus(of: KeyName(purpose: KeyPurpose.privateKeys(protection).number, generation: key.generation)) {
        case .destroyed: throw Refusal(.keyDestroyed, "the key was destroyed with the passcode or with its keychain")
        case .unknown: throw Refusal(.keyOfAnotherDevice)
        case .current, .older:
            guard let current = current(.protection(protection)),
                let classKey = ring.key(.protection(protection), generation: current.generation)
            else { throw Vault.closed(ring) }
            return classKey
        }
    }

    /// Rewraps the keys for private keys from another state of this keybag with this one's class keys. With `isRenewed`, each class gets a
    /// new one for future private keys, since one that only the device wrapped may still be on the disk.
    mutating func adoptPrivateKeys(
        of old: Keybag, isRenewed: Bool, under made: [HeldKey], opening open: (KeySlot) throws(Refusal) -> SecretBytes
    ) throws(Refusal) {
        var fresh: [KeySlot] = []
        var kept: [KeySlot] = []
        for slot in old.slots where slot.wrapping == .classKey {
            guard case .privateKeys(let protection) = slot.purpose, let oldSlot = old.current(.protection(protection)) else {
                throw Refusal(.stateUnreadable, "a key of the keybag is wrapped by a class that does not exist")
            }
            guard let newSlot = current(.protection(protection)), newSlot.generation != oldSlot.generation else {
                kept.append(slot)
                continue
            }
            guard let classKey = made.first(where: { $0.purpose == newSlot.purpose && $0.generation == newSlot.generation }) else {
                throw Refusal(.internalError, "a class key is missing")
            }
            let generations = old.slots.count { $0.purpose == slot.purpose }
            let isRenewed = isRenewed && protection.availability != .always
            if isRenewed, generations < EnclaveLimits.privateKeyGenerationsMax, !fresh.contains(where: { $0.purpose == slot.purpose }) {
                let blank = KeySlot(purpose: slot.purpose, generation: try Self.randomBytes(8), wrapping: .classKey, wrapped: [])
                fresh.append(try wrap(try Self.randomKey(), as: blank, wrapping: .classKey, wrappingKey: classKey.key))
            }
            let opened = try old.open(slot, with: try open(oldSlot))
            kept.append(try wrap(opened, as: slot, wrapping: .classKey, wrappingKey: classKey.key))
        }
        guard slots.count + fresh.count + kept.count < EnclaveLimits.slotsMax else {
            throw Refusal(.unsupported, "This keychain keeps too many older keys; they are removed when its items have been rewrapped")
        }
        slots += fresh + kept
    }
}
