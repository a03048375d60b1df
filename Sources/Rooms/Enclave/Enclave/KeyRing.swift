import EnclaveWire
import VaubanAccessPolicy
package import VaubanSecretBytes

/// A key in memory. It is zeroed with its last reference, and only a vault holds it for longer than a call.
package final class HeldKey: Sendable {
    package let purpose: KeyPurpose
    package let generation: [UInt8]
    package let key: SecretBytes

    init(purpose: KeyPurpose, generation: [UInt8], key: consuming SecretBytes) {
        self.purpose = purpose
        self.generation = generation
        self.key = key
    }
}

/// The keys in memory. Each state has only the keys that it may have; leaving the state releases the others.
enum KeyRing: Sendable {
    case beforeFirstUnlock(device: [HeldKey])
    case locked(device: [HeldKey], firstUnlock: [HeldKey])
    case unlocked(device: [HeldKey], firstUnlock: [HeldKey], unlocked: [HeldKey])

    /// Sorts keys by their availability.
    init(unlocked keys: [HeldKey]) {
        func of(_ availability: ProtectionClass.Availability) -> [HeldKey] { keys.filter { $0.purpose.availability == availability } }
        self = .unlocked(device: of(.always), firstUnlock: of(.firstUnlock), unlocked: of(.unlocked))
    }

    init(beforeFirstUnlock keys: [HeldKey]) {
        self = .beforeFirstUnlock(device: keys.filter { $0.purpose.availability == .always })
    }

    var lock: LockState {
        switch self {
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .locked: .locked
        case .unlocked: .unlocked
        }
    }

    /// Returns the key of a purpose and generation if it is in memory. Builds no intermediate list, since every read calls this.
    func key(_ purpose: KeyPurpose, generation: [UInt8]) -> HeldKey? {
        let list: [HeldKey]
        switch (self, purpose.availability) {
        case (.beforeFirstUnlock(let device), .always), (.locked(let device, _), .always), (.unlocked(let device, _, _), .always):
            list = device
        case (.locked(_, let firstUnlock), .firstUnlock), (.unlocked(_, let firstUnlock, _), .firstUnlock): list = firstUnlock
        case (.unlocked(_, _, let unlocked), .unlocked): list = unlocked
        default: return nil
        }
        return list.first { $0.purpose == purpose && $0.generation == generation }
    }

    /// Returns the ring without the keys of these names, which no row needs any more.
    func without(_ names: [KeyName]) -> KeyRing {
        func kept(_ keys: [HeldKey]) -> [HeldKey] {
            keys.filter { !names.contains(KeyName(purpose: $0.purpose.number, generation: $0.generation)) }
        }
        return switch self {
        case .beforeFirstUnlock(let device): .beforeFirstUnlock(device: kept(device))
        case .locked(let device, let firstUnlock): .locked(device: kept(device), firstUnlock: kept(firstUnlock))
        case .unlocked(let device, let firstUnlock, let unlocked):
            .unlocked(device: kept(device), firstUnlock: kept(firstUnlock), unlocked: kept(unlocked))
        }
    }

    /// The ring without class-A keys; the ring itself if the device is not unlocked.
    var afterLock: KeyRing {
        if case .unlocked(let device, let firstUnlock, _) = self { return .locked(device: device, firstUnlock: firstUnlock) }
        return self
    }
}
