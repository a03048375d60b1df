import Enclave
import EnclaveWire
import VaubanUserModel

/// Changes to a whole keybag, encoded as bytes, below the authentication code and the DER encoding, which a fuzzer that flips single bits
/// seldom passes. Each change consists of three bytes: the kind of change, the slot, and the new value.
struct KeybagEdits {
    private var rest: ArraySlice<UInt8>
    private var bag: Keybag

    static func apply(_ bytes: ArraySlice<UInt8>, to bag: Keybag) -> Keybag {
        var edits = KeybagEdits(rest: bytes, bag: bag)
        while edits.step() {}
        return edits.bag
    }

    private mutating func step() -> Bool {
        guard rest.count >= 3 else { return false }
        let bytes = Array(rest.prefix(3))
        rest = rest.dropFirst(3)
        let value = bytes[2]
        let filler = { (count: Int) in [UInt8](repeating: value, count: count) }
        switch bytes[0] % 17 {
        case 0: slot(bytes[1]) { bag, index in bag.slots.remove(at: index) }
        case 1: slot(bytes[1]) { bag, index in if bag.slots.count < EnclaveLimits.slotsMax { bag.slots.append(bag.slots[index]) } }
        case 2: slot(bytes[1]) { bag, index in bag.slots.swapAt(index, Int(value) % bag.slots.count) }
        case 3: slot(bytes[1]) { bag, index in bag.slots[index] = bag.slots[index].with(purpose: KeyPurpose(number: Int64(value))) }
        case 4:
            slot(bytes[1]) { bag, index in
                bag.slots[index] = bag.slots[index].with(wrapping: KeySlot.Wrapping(rawValue: Int64(value % 2) + 1))
            }
        case 5: slot(bytes[1]) { bag, index in bag.slots[index] = bag.slots[index].with(generation: filler(8)) }
        case 6: slot(bytes[1]) { bag, index in bag.slots[index] = bag.slots[index].with(wrapped: filler(28 + Int(value) % 229)) }
        case 7:
            slot(bytes[1]) { bag, index in
                let other = bag.slots[Int(value) % bag.slots.count]
                bag.slots[index] = bag.slots[index].with(wrapped: other.wrapped)
            }
        case 8: slot(bytes[1]) { bag, index in bag.slots[index] = bag.slots[index].with(publicKey: value == 0 ? nil : filler(32)) }
        case 9:
            bag.passcode =
                value == 0
                ? nil
                : StretchParameters(salt: filler(32), log2Rounds: 4 + Int64(value % 2), blockSize: 1 + Int64(value % 3), parallelism: 1)
        case 10: bag.passcode = KnownState.parameters
        case 11:
            slot(bytes[1]) { bag, index in
                bag.enrollment = Enrollment(generation: bag.slots[index].generation, fingers: filler(32), unlocks: value % 2 == 0)
            }
        case 12: bag.settings = LockSettings(graceSeconds: Int64(value), idleSeconds: Int64(bytes[1]), locksWithScreen: value % 2 == 0)
        case 13: slot(bytes[1]) { bag, index in bag.destroyed.append(bag.slots[index].name) }
        case 14: bag.recovered = Int64(value) << 56
        case 15: bag.enrollment = nil
        default: bag.earlierRecovery = bag.recovery
        }
        if bag.destroyed.count > 16 { bag.destroyed.removeLast() }
        return true
    }

    private mutating func slot(_ number: UInt8, _ change: (inout Keybag, Int) -> Void) {
        if !bag.slots.isEmpty { change(&bag, Int(number) % bag.slots.count) }
    }
}

extension KeySlot {
    fileprivate func with(purpose: KeyPurpose?) -> KeySlot { copy(purpose: purpose ?? self.purpose) }
    fileprivate func with(wrapping: Wrapping?) -> KeySlot { copy(wrapping: wrapping ?? self.wrapping) }
    fileprivate func with(generation: [UInt8]) -> KeySlot { copy(generation: generation) }
    fileprivate func with(wrapped: [UInt8]) -> KeySlot { copy(wrapped: wrapped) }

    fileprivate func with(publicKey: [UInt8]?) -> KeySlot {
        KeySlot(purpose: purpose, generation: generation, wrapping: wrapping, wrapped: wrapped, publicKey: publicKey)
    }

    private func copy(purpose: KeyPurpose? = nil, generation: [UInt8]? = nil, wrapping: Wrapping? = nil, wrapped: [UInt8]? = nil) -> KeySlot
    {
        KeySlot(
            purpose: purpose ?? self.purpose, generation: generation ?? self.generation, wrapping: wrapping ?? self.wrapping,
            wrapped: wrapped ?? self.wrapped, publicKey: publicKey)
    }
}
