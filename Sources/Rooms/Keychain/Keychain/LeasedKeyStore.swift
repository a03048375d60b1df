// The keys that the enclave has lent, and the one place from which they are used. A key never leaves its lock: when a
// recall returns, no thread has a copy.

internal import Crypto
package import EnclaveWire
internal import Foundation
internal import VaubanAccessPolicy
internal import VaubanLinuxHost
internal import VaubanSecretBytes

package final class LeasedKeyStore: Sendable {
    private struct State {
        var standing: ConnectionNumber?
        var lastStanding: Int64 = 0
        var recalls: [UInt32: Recalls] = [:]
        var users: [UInt32: UserKeys] = [:]
        /// What people have let programs do until they lock.
        var consents: [UInt32: Set<RememberedConsent>] = [:]
        /// How long the machine had slept when the oldest of the keys was lent; nil while none is here.
        var slept: Int64?
    }

    /// The newest epochs that were taken back, of class-A keys and of all keys.
    private struct Recalls {
        var classA: Int64 = -1
        var everything: Int64 = -1
    }

    private let state = ThreadMutex(State())
    private let standingBegan = NSCondition()

    package init() {}

    // MARK: Use

    /// Lends the key for the length of `body`; nil when it is not here. Without a generation it is the current one.
    func use<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8]?, of user: UInt32,
        _ body: (SymmetricKey, RepeatedBlinds) throws -> Value
    ) throws -> Value? {
        guard let keys = state.withLock({ $0.users[user] }) else { return nil }
        return try keys.held.withSharedLock { held in
            guard let key = held.first(where: { $0.fits(purpose, generation) }) else { return nil }
            return try key.bytes.withUnsafeBytes { bytes throws in try body(SymmetricKey(data: bytes), key.repeated) }
        }
    }

    /// The generation under which new things are made; nil when no key of this purpose is here.
    package func currentGeneration(of purpose: KeyLease.Purpose, user: UInt32) -> [UInt8]? {
        guard let keys = state.withLock({ $0.users[user] }) else { return nil }
        return keys.held.withSharedLock { $0.first { $0.fits(purpose, nil) }?.name.generation }
    }

    // MARK: Lending

    /// Takes a lease's keys in the place of those before. Keys that were called back since, or lent over a line that is
    /// gone, are dropped; false says that the lease is of no use.
    /// - Parameter slept: nanoseconds that the machine had slept when the lease was asked for.
    package func install(_ leased: borrowing KeyBorrowing, slept: Int64) -> Bool {
        let lease = leased.lease
        guard leased.secrets.count == lease.keys.count * KeyLease.keyBytes else { return false }
        var kept: [HeldKey] = []
        for (index, name) in lease.keys.enumerated() {
            let start = index * KeyLease.keyBytes
            kept.append(HeldKey(name: name, bytes: leased.secrets.part(start..<start + KeyLease.keyBytes)))
        }
        let standing = leased.standing
        return state.withLock { state in
            guard state.standing == standing else { return false }
            let recalls = state.recalls[lease.user] ?? Recalls()
            guard lease.epoch > recalls.everything else { return false }
            let isCurrent = lease.epoch > recalls.classA
            let keys = state.users[lease.user] ?? UserKeys()
            state.users[lease.user] = keys
            state.slept = min(state.slept ?? slept, slept)
            keys.held.withLock { held in held = kept.filter { isCurrent || !$0.name.purpose.isClassA } }
            return isCurrent
        }
    }

    /// Erases what a recall names; when this returns it is gone.
    package func recall(_ recall: LeaseRecall) {
        state.withLock { state in
            var recalls = state.recalls[recall.user] ?? Recalls()
            recalls.classA = max(recalls.classA, recall.epoch)
            if recall.everything { recalls.everything = max(recalls.everything, recall.epoch) }
            state.recalls[recall.user] = recalls
            state.consents[recall.user] = nil
            state.users[recall.user]?.held.withLock { held in
                held.removeAll { recall.everything || $0.name.purpose.isClassA }
            }
        }
    }

    /// Drops a user's keys because the enclave says that they have changed.
    package func forget(_ user: UInt32) {
        state.withLock { $0.users[user]?.held.withLock { $0.removeAll() } }
    }

    /// Erases everybody's keys if the machine has slept since any of them was lent; true then.
    package func drop(ifSleptSince slept: Int64) -> Bool {
        state.withLock { state in
            guard let before = state.slept, slept - before > KeychainLimits.sleepNanosecondsMax else { return false }
            state.slept = nil
            state.consents = [:]
            for keys in state.users.values { keys.held.withLock { $0.removeAll() } }
            return true
        }
    }

    // MARK: Consents that end with the lock

    /// Keeps a yes until the user locks; where they are locked now, it was for this once.
    func remember(_ consent: RememberedConsent, of user: UInt32) {
        state.withLock { state in
            let isUnlocked = state.users[user]?.held.withSharedLock { $0.contains { $0.name.purpose.isClassA } } ?? false
            guard isUnlocked, state.consents[user, default: []].count < KeychainLimits.consentsMax else { return }
            state.consents[user, default: []].insert(consent)
        }
    }

    /// The items that a program may read until the user locks.
    func remembered(_ key: String, of user: UInt32) -> Set<[UInt8]> {
        let key = Array(key.utf8)
        return state.withLock { Set($0.consents[user, default: []].lazy.filter { $0.key == key }.map(\.item)) }
    }

    /// Takes back a yes until the lock.
    func forget(_ item: [UInt8], of key: String, user: UInt32) {
        _ = state.withLock { $0.consents[user]?.remove(RememberedConsent(key: Array(key.utf8), item: item)) }
    }

    /// Takes back every yes until the lock that is about an item.
    func forget(_ item: [UInt8], user: UInt32) {
        state.withLock { state in
            guard let kept = state.consents[user]?.filter({ $0.item != item }) else { return }
            state.consents[user] = kept
        }
    }

    // MARK: The standing connection

    /// From now on keys may be lent. Epochs of an enclave that has restarted begin anew, so old recalls end here.
    package func standingConnectionBegan() -> ConnectionNumber {
        let number = state.withLock { state in
            state.lastStanding += 1
            let number = ConnectionNumber(value: state.lastStanding)
            state.standing = number
            state.recalls = [:]
            return number
        }
        standingBegan.lock()
        standingBegan.broadcast()
        standingBegan.unlock()
        return number
    }

    /// Nothing can be called back any more, so nothing may stay.
    package func standingConnectionEnded() {
        state.withLock { state in
            state.standing = nil
            state.slept = nil
            state.consents = [:]
            for keys in state.users.values { keys.held.withLock { $0.removeAll() } }
        }
    }

    /// The standing connection, waiting for one if need be; nil when none comes in time.
    package func standing(within nanoseconds: UInt64) -> ConnectionNumber? {
        if let number = state.withLock({ $0.standing }) { return number }
        let deadline = Date(timeIntervalSinceNow: Double(nanoseconds) / 1_000_000_000)
        standingBegan.lock()
        defer { standingBegan.unlock() }
        while true {
            if let number = state.withLock({ $0.standing }) { return number }
            guard standingBegan.wait(until: deadline) else { return nil }
        }
    }
}

/// That a program may read an item until the user locks.
struct RememberedConsent: Hashable, Sendable {
    /// The program's name, in bytes.
    let key: [UInt8]
    let item: [UInt8]
}

/// One user's keys. Requests use them side by side; whoever takes keys away waits for the uses that have begun, which is for
/// microseconds, and no other begins before that is done.
private final class UserKeys: Sendable {
    let held = SharedMutex<[HeldKey]>([])
}

/// The bytes end with the last reference, and every reference is under the user's lock, shared or alone.
private final class HeldKey: Sendable {
    let name: KeyLease.Key
    let bytes: SecretBytes
    /// Of an index key; empty for others.
    let repeated = RepeatedBlinds()

    init(name: KeyLease.Key, bytes: consuming SecretBytes) {
        self.name = name
        self.bytes = bytes
    }

    func fits(_ purpose: KeyLease.Purpose, _ generation: [UInt8]?) -> Bool {
        name.purpose == purpose && (generation.map { $0 == name.generation } ?? true)
    }
}

extension KeyLease.Purpose {
    /// Whether the key goes when the user locks.
    var isClassA: Bool {
        if case .metadata(let protection) = self { return protection.availability == .unlocked }
        return false
    }
}
