// An enclave without cryptography: it knows what it has sealed and refuses what a real one would refuse.

import EnclaveWire
import Keychain
import Synchronization
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanSecretBytes

final class FakeEnclave: EnclaveLine, Sendable {
    struct State {
        var lock: DeviceStatus.Lock = .unlocked
        var passcodeIsSet = true
        var epoch: Int64 = 1
        /// Current first; all generations of a purpose.
        var keys: [(name: KeyLease.Key, bytes: [UInt8])] = []
        var sealed: [[UInt8]: (row: RowBinding, key: [UInt8])] = [:]
        /// What the person does when asked.
        var personAnswers: Refusal?
        var timesAsked = 0
        var timesOpened = 0
        var timesLeased = 0
        var refusesOnce: Refusal?
    }

    let person: UInt32
    let state = Mutex(State())
    private let standing: StandingNumber

    init(person: UInt32, lent: LentKeys) throws {
        self.person = person
        standing = lent.standingConnectionBegan()
        for protection in Protection.allCases { try renew(.metadata(protection)) }
        try renew(.firstUnlockIndex)
        try renew(.deviceIndex)
    }

    /// Puts a new generation in front of a purpose's keys.
    func renew(_ purpose: KeyLease.Purpose, forgettingOld: Bool = false) throws {
        let key = (name: KeyLease.Key(purpose: purpose, generation: try Entropy.bytes(8)), bytes: try Entropy.bytes(32))
        state.withLock { state in
            if forgettingOld { state.keys.removeAll { $0.name.purpose == purpose } }
            state.keys.insert(key, at: 0)
        }
    }

    func set(_ change: @Sendable (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Locks as the real one does: the epoch ends, and what was lent in it is called back.
    func lock(_ lent: LentKeys, to lock: DeviceStatus.Lock = .locked) {
        let epoch = state.withLock { state in
            state.lock = lock
            state.epoch += 1
            return state.epoch - 1
        }
        lent.recall(LeaseRecall(person: person, epoch: epoch, everything: lock == .beforeFirstUnlock))
    }

    func lease() throws -> LeasedKeys {
        let (lease, bytes) = state.withLock { state in
            state.timesLeased += 1
            let open = state.keys.filter { Self.isOpen($0.name.purpose, state) }
            let lease = KeyLease(
                person: person, epoch: state.epoch, lock: state.lock, passcodeIsSet: state.passcodeIsSet, keys: open.map(\.name))
            return (lease, open.flatMap(\.bytes))
        }
        return LeasedKeys(lease: lease, secrets: SecretBytes(bytes), standing: standing)
    }

    func seal(_ row: RowBinding) throws -> SealedItemKey {
        let wrapped = try Entropy.bytes(16)
        let key = try Entropy.bytes(32)
        try state.withLock { state throws(Refusal) in
            if let refusal = state.refusesOnce.take() { throw refusal }
            try Self.checkOpen(row, state)
            guard state.keys.first(where: { $0.name.purpose == .metadata(row.protection) })?.name.generation == row.generation else {
                throw Refusal(.keysChanged)
            }
            state.sealed[wrapped] = (row, key)
        }
        return SealedItemKey(wrapped: wrapped, key: SecretBytes(key))
    }

    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool) throws -> SecretBytes {
        let key = try state.withLock { state throws(Refusal) in
            state.timesOpened += 1
            if !state.keys.contains(where: { $0.name.generation == row.generation }) { throw Refusal(.keyDestroyed) }
            try Self.checkOpen(row, state)
            guard let sealed = state.sealed[wrapped], sealed.row == row else { throw Refusal(.rowDamaged) }
            if row.accessControl?.requirementToDecrypt.isNone == false {
                guard mayAsk else { throw Refusal(.interactionNotAllowed) }
                state.timesAsked += 1
                if let refusal = state.personAnswers { throw refusal }
            }
            return sealed.key
        }
        return SecretBytes(key)
    }

    private static func checkOpen(_ row: RowBinding, _ state: State) throws(Refusal) {
        guard isOpen(.metadata(row.protection), state) else {
            throw Refusal(state.lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked)
        }
    }

    private static func isOpen(_ purpose: KeyLease.Purpose, _ state: State) -> Bool {
        let availability: Protection.Availability
        switch purpose {
        case .metadata(let protection):
            if protection.needsPasscode && !state.passcodeIsSet { return false }
            availability = protection.availability
        case .firstUnlockIndex: availability = .firstUnlock
        case .deviceIndex: availability = .always
        }
        switch availability {
        case .always: return true
        case .firstUnlock: return state.lock != .beforeFirstUnlock
        case .unlocked: return state.lock == .unlocked
        }
    }
}

extension SecretBytes {
    init(_ bytes: [UInt8]) { self.init(count: bytes.count) { $0.copyBytes(from: bytes) } }
}
