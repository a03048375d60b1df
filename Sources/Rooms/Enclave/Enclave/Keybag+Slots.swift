// Creates and opens the slots of a keybag. Pure except for random bytes and the backend.

import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

extension Keybag {
    /// Returns the keybag of a user without a passcode: every key except that of the passcode class, wrapped by the device.
    static func withoutPasscode(of user: UInt32, backend: some EnclaveBackend) throws(Refusal) -> (Keybag, [HeldKey]) {
        var bag = Keybag(identifier: try randomBytes(16), user: user, device: backend.deviceIdentifier, slots: [], passcode: nil)
        let deviceKey = try bag.deviceKey(backend)
        var held: [HeldKey] = []
        for purpose in KeyPurpose.classes where purpose != .protection(.whenPasscodeSetThisDeviceOnly) {
            held.append(try bag.addKey(purpose, wrapping: .device, wrappingKey: deviceKey))
        }
        for purpose in [KeyPurpose.firstUnlockIndex, .deviceIndex] {
            held.append(try bag.addKey(purpose, wrapping: .device, wrappingKey: deviceKey))
        }
        for purpose in KeyPurpose.factors { try bag.addPair(purpose, wrapping: .device, wrappingKey: deviceKey) }
        return (bag, held)
    }

    /// Returns the keys that a wrapping key opens and that may stay in memory.
    func openKeys(_ wrapping: KeySlot.Wrapping, with key: borrowing SecretBytes) throws(Refusal) -> [HeldKey] {
        var held: [HeldKey] = []
        for slot in slots where slot.wrapping == wrapping && slot.purpose.availability != nil {
            held.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: try open(slot, with: key)))
        }
        return held
    }

    /// Returns whether the passcode leads to this key. Passcodes are compared nowhere else.
    func accepts(passcodeKey: borrowing SecretBytes) -> Bool {
        guard let slot = slots.first(where: { $0.wrapping == .passcodeAndDevice }) else { return false }
        return (try? open(slot, with: passcodeKey)) != nil
    }

    /// Throws if the passcode changed after it was verified. In that case the keybag is not damaged.
    func checkPasscodeUnchanged(since passcodeKey: borrowing SecretBytes) throws(Refusal) {
        guard accepts(passcodeKey: passcodeKey) else { throw Refusal(.keysChanged, "The passcode was changed meanwhile; try again") }
    }

    func open(_ slot: KeySlot, with key: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        do throws(WrapError) {
            return try KeyWrap.unwrap(
                slot.wrapped, under: key, label: "vauban keybag slot v1",
                context: context(slot.purpose, generation: slot.generation, wrapping: slot.wrapping))
        } catch {
            throw Refusal(.stateUnreadable, "a key of the keybag does not open")
        }
    }

    func deviceKey(_ backend: some EnclaveBackend) throws(Refusal) -> SecretBytes {
        do throws(BackendError) {
            return try backend.deviceKey(label: "vauban keybag device wrap v1", context: identifier)
        } catch {
            throw Refusal(.stateUnreadable, error.description)
        }
    }

    /// Returns a new keybag for the user, in which all earlier keys are recorded as destroyed, so that none can be opened.
    func erased(backend: some EnclaveBackend) throws(Refusal) -> (Keybag, [HeldKey]) {
        var (bag, held) = try Self.withoutPasscode(of: user, backend: backend)
        bag.destroyed = Array((slots.map(\.name) + destroyed).prefix(EnclaveLimits.destroyedMax))
        return (bag, held)
    }

    /// Derives the passcode key on this device: the stretched passcode, combined with the device secret.
    func passcodeKey(stretched: borrowing SecretBytes, _ backend: some EnclaveBackend) throws(Refusal) -> SecretBytes {
        do throws(BackendError) {
            return try backend.tangle(stretched, label: "vauban keybag passcode wrap v1", context: identifier)
        } catch {
            throw Refusal(.stateUnreadable, error.description)
        }
    }

    mutating func addKey(_ purpose: KeyPurpose, wrapping: KeySlot.Wrapping, wrappingKey: borrowing SecretBytes) throws(Refusal)
        -> HeldKey
    {
        let key = try Self.randomKey()
        let blank = KeySlot(purpose: purpose, generation: try Self.randomBytes(8), wrapping: wrapping, wrapped: [])
        slots.append(try wrap(key, as: blank, wrapping: wrapping, wrappingKey: wrappingKey))
        return HeldKey(purpose: purpose, generation: blank.generation, key: key)
    }

    mutating func addPair(_ purpose: KeyPurpose, wrapping: KeySlot.Wrapping, wrappingKey: borrowing SecretBytes) throws(Refusal) {
        let pair = FactorPair()
        let blank = KeySlot(
            purpose: purpose, generation: try Self.randomBytes(8), wrapping: wrapping, wrapped: [], publicKey: pair.publicKey)
        slots.append(try wrap(pair.privateKey, as: blank, wrapping: wrapping, wrappingKey: wrappingKey))
    }

    func wrap(
        _ key: borrowing SecretBytes, as slot: KeySlot, wrapping: KeySlot.Wrapping, wrappingKey: borrowing SecretBytes
    ) throws(Refusal) -> KeySlot {
        do throws(WrapError) {
            let wrapped = try KeyWrap.wrap(
                key, under: wrappingKey, label: "vauban keybag slot v1",
                context: context(slot.purpose, generation: slot.generation, wrapping: wrapping))
            return KeySlot(
                purpose: slot.purpose, generation: slot.generation, wrapping: wrapping, wrapped: wrapped, publicKey: slot.publicKey,
                holdsPrivateKeys: slot.holdsPrivateKeys)
        } catch {
            throw Refusal(.internalError, "a key cannot be wrapped")
        }
    }

    static func randomBytes(_ count: Int) throws(Refusal) -> [UInt8] {
        do throws(SystemError) { return try Entropy.bytes(count) } catch { throw Refusal(.internalError, "no random bytes are available") }
    }

    static func randomKey(_ count: Int = EnclaveLimits.keyBytes) throws(Refusal) -> SecretBytes {
        do throws(SystemError) { return try Entropy.secret(count) } catch {
            throw Refusal(.internalError, "no random bytes are available")
        }
    }
}
