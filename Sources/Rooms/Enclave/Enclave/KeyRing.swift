import EnclaveWire
import VaubanAccessPolicy
package import VaubanSecretBytes

/// A key in memory. It is zeroed when the last holder lets go; only a vault holds it for longer than a call.
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

/// Which keys are in memory: each state holds what it may know and nothing else. Leaving a state drops its keys.
enum KeyRing: Sendable {
    case beforeFirstUnlock(device: [HeldKey])
    case locked(device: [HeldKey], firstUnlock: [HeldKey])
    case unlocked(device: [HeldKey], firstUnlock: [HeldKey], unlocked: [HeldKey])

    /// Sorts keys by when they may be in memory.
    init(unlocked keys: [HeldKey]) {
        func of(_ availability: Protection.Availability) -> [HeldKey] { keys.filter { $0.purpose.availability == availability } }
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

    /// The key of a purpose and generation, if it is open now. Looked up without building a list: this is on the path
    /// of every read.
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

    /// Without some keys, which no row needs any more.
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

    /// Without the class-A keys; a device that was not unlocked stays as it is.
    var afterLock: KeyRing {
        if case .unlocked(let device, let firstUnlock, _) = self { return .locked(device: device, firstUnlock: firstUnlock) }
        return self
    }
}
