// The keys that the enclave has leased, and the only place where they are used. A key is used only under its lock, so once a recall has
// returned, no thread has a copy.

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
        /// The users' consents that end with a lock.
        var consents: [UInt32: Set<ConsentUntilLock>] = [:]
        /// How long the machine had slept when the oldest of the keys was leased, in nanoseconds; nil if there are none.
        var slept: Int64?
    }

    /// The newest recalled epochs, of class-A keys and of all keys.
    private struct Recalls {
        var classA: Int64 = -1
        var everything: Int64 = -1
    }

    private let state = ThreadMutex(State())
    private let standingBegan = NSCondition()

    package init() {}

    // MARK: Use

    /// Calls `body` with the key and returns its result; nil if there is no such key. A nil generation means the current one.
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

    /// Returns the generation for new rows; nil if there is no key for this purpose.
    package func currentGeneration(of purpose: KeyLease.Purpose, user: UInt32) -> [UInt8]? {
        guard let keys = state.withLock({ $0.users[user] }) else { return nil }
        return keys.held.withSharedLock { $0.first { $0.fits(purpose, nil) }?.name.generation }
    }

    // MARK: Leases

    /// Replaces a user's keys with those of a lease. Drops keys that were recalled since, or that were leased over a connection that has
    /// ended. Returns false if no key of the lease can be used.
    /// - Parameter slept: Nanoseconds that the machine had slept when the lease was requested.
    package func install(_ leased: borrowing ReceivedLease, slept: Int64) -> Bool {
        let lease = leased.lease
        guard leased.secrets.count == lease.keys.count * KeyLease.keyBytes else { return false }
        var kept: [LeasedKey] = []
        for (index, name) in lease.keys.enumerated() {
            let start = index * KeyLease.keyBytes
            kept.append(LeasedKey(name: name, bytes: leased.secrets.part(start..<start + KeyLease.keyBytes)))
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

    /// Erases the keys that a recall names before it returns.
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

    /// Erases a user's keys because the enclave reports that they have changed.
    package func forget(_ user: UInt32) {
        state.withLock { $0.users[user]?.held.withLock { $0.removeAll() } }
    }

    /// Erases all keys and returns true if the machine has slept since any of them was leased.
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

    /// Keeps a consent until the user locks. If they have locked already, the consent was valid once.
    func remember(_ consent: ConsentUntilLock, of user: UInt32) {
        state.withLock { state in
            let isUnlocked = state.users[user]?.held.withSharedLock { $0.contains { $0.name.purpose.isClassA } } ?? false
            guard isUnlocked, state.consents[user, default: []].count < KeychainLimits.consentsMax else { return }
            state.consents[user, default: []].insert(consent)
        }
    }

    /// Returns the items that a program may read until the user locks.
    func itemsReadableUntilLock(by key: String, of user: UInt32) -> Set<[UInt8]> {
        let key = Array(key.utf8)
        return state.withLock { Set($0.consents[user, default: []].lazy.filter { $0.key == key }.map(\.item)) }
    }

    /// Withdraws a consent that is valid until the lock.
    func forget(_ item: [UInt8], of key: String, user: UInt32) {
        _ = state.withLock { $0.consents[user]?.remove(ConsentUntilLock(key: Array(key.utf8), item: item)) }
    }

    /// Withdraws all consents to an item that are valid until the lock.
    func forget(_ item: [UInt8], user: UInt32) {
        state.withLock { state in
            guard let kept = state.consents[user]?.filter({ $0.item != item }) else { return }
            state.consents[user] = kept
        }
    }

    // MARK: The standing connection

    /// Permits leases from now on. An enclave that has restarted begins its epochs again, so earlier recalls no longer apply.
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

    /// Erases all keys, since the enclave could no longer recall them.
    package func standingConnectionEnded() {
        state.withLock { state in
            state.standing = nil
            state.slept = nil
            state.consents = [:]
            for keys in state.users.values { keys.held.withLock { $0.removeAll() } }
        }
    }

    /// Returns the standing connection, and waits for one if there is none; nil if none is established in time.
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

/// The user's consent that a program may read an item until the user locks.
struct ConsentUntilLock: Hashable, Sendable {
    /// The program's name, as bytes.
    let key: [UInt8]
    let item: [UInt8]
}

/// One user's keys. Requests use them concurrently. A thread that removes keys waits for the uses that have begun, which take microseconds,
/// and no new use begins before it is done.
private final class UserKeys: Sendable {
    let held = SharedMutex<[LeasedKey]>([])
}

/// A leased key. Its bytes are erased with the last reference, and each reference is held under the user's lock, shared or exclusive.
private final class LeasedKey: Sendable {
    let name: KeyLease.Key
    let bytes: SecretBytes
    /// The repeated blinds of an index key; empty for other keys.
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
    /// Whether the key is erased when the user locks.
    var isClassA: Bool {
        if case .metadata(let protection) = self { return protection.availability == .unlocked }
        return false
    }
}
