// The metadata and index keys for keychaind that are available now. A class key never leaves the enclave.

package import EnclaveWire
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// A lease, and its keys concatenated.
package struct LeasedKeys: ~Copyable {
    package let lease: KeyLease
    package let keys: SecretBytes
}

extension Vault {
    package func lease() throws(Refusal) -> LeasedKeys {
        try state.withLock { (state) throws(Refusal) -> LeasedKeys in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            // Current generations first, as in the keybag.
            let held = bag.slots.compactMap { slot in ring.key(slot.purpose, generation: slot.generation) }
            var leased: [KeyLease.Key] = []
            let keys = SecretBytes(count: held.count * KeyLease.keyBytes) { target in
                for (index, key) in held.enumerated() {
                    let place = UnsafeMutableRawBufferPointer(rebasing: target[index * KeyLease.keyBytes..<(index + 1) * KeyLease.keyBytes])
                    switch key.purpose {
                    case .protection(let protection):
                        let metadata = KeyWrap.derive(from: key.key, label: "vauban metadata key v1")
                        metadata.withUnsafeBytes { place.copyMemory(from: $0) }
                        leased.append(KeyLease.Key(purpose: .metadata(protection), generation: key.generation))
                    case .firstUnlockIndex, .deviceIndex:
                        key.key.withUnsafeBytes { place.copyMemory(from: $0) }
                        leased.append(
                            KeyLease.Key(
                                purpose: key.purpose == .deviceIndex ? .deviceIndex : .firstUnlockIndex, generation: key.generation))
                    case .privateKeys, .passcodeFactor, .presenceFactor, .biometryFactor, .enrollmentFactor: break
                    }
                }
            }
            let lease = KeyLease(user: user, epoch: state.epoch, lock: ring.lock, passcodeIsSet: bag.passcode != nil, keys: leased)
            return LeasedKeys(lease: lease, keys: keys)
        }
    }
}
