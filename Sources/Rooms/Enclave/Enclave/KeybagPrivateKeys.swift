// The keys that wrap private keys: one for each class that has private keys, under the class's own, so that what opens a class
// opens them and what closes it closes them.

import EnclaveWire
import VaubanAccessPolicy
import VaubanKeyWire
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    /// The key under which private keys of a class are made, with the keybag that has it: another one where it is the first.
    func keyForPrivateKeys(_ protection: Protection, under classKey: HeldKey) throws(Refusal) -> (HeldKey, Keybag) {
        let purpose = KeyPurpose.privateKeys(protection)
        if let slot = current(purpose) {
            return (HeldKey(purpose: purpose, generation: slot.generation, key: try open(slot, with: classKey.key)), self)
        }
        guard slots.count < EnclaveLimits.slotsMax else { throw Refusal(.unsupported, "this keychain keeps too many older keys") }
        var bag = self
        return (try bag.addKey(purpose, .classKey, classKey.key), bag)
    }

    /// The key that wraps one private key, if its class is open now; says whether it is closed, gone, or was never here.
    func keyOf(_ key: EnclaveKey, in ring: KeyRing) throws(Refusal) -> SecretBytes {
        let classKey = try throwIfClosed(key, in: ring)
        let purpose = KeyPurpose.privateKeys(key.control.protection)
        guard let slot = slots.first(where: { $0.purpose == purpose && $0.generation == key.generation }) else {
            throw Refusal(.keyOfAnotherDevice)
        }
        return try open(slot, with: classKey.key)
    }

    /// The key of its class.
    @discardableResult
    func throwIfClosed(_ key: EnclaveKey, in ring: KeyRing) throws(Refusal) -> HeldKey {
        guard key.user == user else { throw Refusal(.keyOfAnotherDevice, "the key is another user's") }
        let protection = key.control.protection
        switch fate(of: KeyName(purpose: KeyPurpose.privateKeys(protection).number, generation: key.generation)) {
        case .destroyed: throw Refusal(.keyDestroyed, "the key went with the passcode, or with the keychain that it was made in")
        case .unknown: throw Refusal(.keyOfAnotherDevice)
        case .current, .older:
            guard let current = current(.protection(protection)),
                let classKey = ring.key(.protection(protection), generation: current.generation)
            else { throw Vault.closed(ring) }
            return classKey
        }
    }

    /// Takes those of another state of this keybag under the class keys of this one. Renewed, each class that has some gets a new
    /// one for the private keys to come: what lay under the device alone may still lie there, on the disk.
    mutating func takePrivateKeys(
        of old: Keybag, isRenewed: Bool, under made: [HeldKey], opening open: (KeySlot) throws(Refusal) -> SecretBytes
    ) throws(Refusal) {
        var fresh: [KeySlot] = []
        var kept: [KeySlot] = []
        for slot in old.slots where slot.wrapping == .classKey {
            guard case .privateKeys(let protection) = slot.purpose, let oldSlot = old.current(.protection(protection)) else {
                throw Refusal(.stateUnreadable, "a key of the keybag lies under a class that is not there")
            }
            guard let newSlot = current(.protection(protection)), newSlot.generation != oldSlot.generation else {
                kept.append(slot)
                continue
            }
            guard let classKey = made.first(where: { $0.purpose == newSlot.purpose && $0.generation == newSlot.generation }) else {
                throw Refusal(.internalFault, "a class key is missing")
            }
            let generations = old.slots.count { $0.purpose == slot.purpose }
            let isRenewed = isRenewed && protection.availability != .always
            if isRenewed, generations < EnclaveLimits.privateKeyGenerationsMax, !fresh.contains(where: { $0.purpose == slot.purpose }) {
                let blank = KeySlot(purpose: slot.purpose, generation: try Self.randomBytes(8), wrapping: .classKey, wrapped: [])
                fresh.append(try wrap(try Self.randomKey(), as: blank, .classKey, classKey.key))
            }
            let opened = try old.open(slot, with: try open(oldSlot))
            kept.append(try wrap(opened, as: slot, .classKey, classKey.key))
        }
        guard slots.count + fresh.count + kept.count < EnclaveLimits.slotsMax else {
            throw Refusal(.unsupported, "this keychain keeps too many older keys; older class keys go when the items were wrapped anew")
        }
        slots += fresh + kept
    }
}
