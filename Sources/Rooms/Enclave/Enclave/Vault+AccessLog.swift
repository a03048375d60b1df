// The keys of the access log, and its end (Specs/access-log.md): keychaind may write records while the device is locked, but they open only
// while it is unlocked.

import Crypto
package import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// A seed that an array can hold, since `SecretBytes` is noncopyable.
private final class SeriesSeed: Sendable {
    let bytes: SecretBytes
    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// The first key of a series of records.
package struct MadeSeriesKey: ~Copyable {
    package let key: SecretBytes
    package let sealed: [UInt8]
    /// The last record of the log that is known.
    package let end: AccessLogEnd
}

extension Vault {
    /// The class whose key wraps the log's keys. It is available only while the device is unlocked, and only on this device.
    static let logClass = ProtectionClass.whenUnlockedThisDeviceOnly

    /// Makes the first key of a series of records. Throws if there is no key pair yet and the device is locked.
    package func makeSeriesKey() throws(Refusal) -> MadeSeriesKey {
        let (pair, end) = try state.withLock { (state) throws(Refusal) -> (AccessLogKeyPair, AccessLogEnd) in
            var stored = try logState(&state)
            let bag = try state.createIfNeeded(host).0
            let pairs = stored.pairs.filter { Self.logSlot(of: $0, in: bag) != nil }
            // The first passcode brings new keys for private keys, since a key that only the device wrapped may still be on the disk.
            if let newest = pairs.first, newest.generation == bag.current(.privateKeys(Self.logClass))?.generation {
                return (newest, stored.end)
            }
            do throws(Refusal) {
                let made = try newLogKeyPair(&state)
                stored.pairs = Array(([made] + pairs).prefix(AccessLogState.pairsMax))
                try writeLog(stored, &state)
                return (made, stored.end)
            } catch {
                guard let newest = pairs.first, error.reason == .locked || error.reason == .beforeFirstUnlock else { throw error }
                return (newest, stored.end)
            }
        }
        let key = try Keybag.randomKey()
        do {
            return MadeSeriesKey(key: key.duplicate(), sealed: try pair.seal(key), end: end)
        } catch {
            throw Refusal(.internalError, "a key of the access log cannot be sealed")
        }
    }

    /// Extends the end of the log by the records that come after it. Returns the end, and where the log begins. The enclave computes the
    /// end itself, so nobody can replace the records that it covers.
    package func anchorLog(_ links: [AccessLogLink]) throws(Refusal) -> AccessLogAnchor {
        try state.withLock { (state) throws(Refusal) -> AccessLogAnchor in
            var stored = try logState(&state)
            let known = stored.end.number
            for link in links where link.number > stored.end.number {
                stored.end = AccessLogEnd(number: link.number, chain: Array(SHA256.hash(data: stored.end.hashInput(adding: link))))
            }
            if stored.end.number > known { try writeLog(stored, &state) }
            return AccessLogAnchor(end: stored.end, began: stored.began)
        }
    }

    /// Starts the log over after an erasure, since no earlier log record is expected from then on. If that cannot be written, the reader of
    /// the log is told that the earlier ones are missing.
    func restartLog(_ state: inout VaultState) {
        guard var stored = try? logState(&state), stored.end.number > 0 else { return }
        stored.end = AccessLogEnd(number: stored.end.number, chain: AccessLogEnd.empty.chain)
        stored.began = stored.end.number
        try? writeLog(stored, &state)
    }

    /// Returns the first key of a series of records. Throws while the device is locked, and `keyDestroyed` if no key pair opens it.
    package func openSeriesKey(_ sealed: [UInt8]) throws(Refusal) -> SecretBytes {
        let seeds = try state.withLock { (state) throws(Refusal) -> [SeriesSeed] in
            let pairs = try logState(&state).pairs
            let (bag, classKey) = try logClassKey(&state)
            var seeds: [SeriesSeed] = []
            for pair in pairs {
                guard let slot = Self.logSlot(of: pair, in: bag) else { continue }
                let outer = try bag.open(slot, with: classKey.key)
                guard let seed = try? KeyWrap.unwrap(pair.wrapped, under: outer, label: AccessLogKeyPair.label, context: logContext(pair))
                else { continue }
                seeds.append(SeriesSeed(seed))
            }
            return seeds
        }
        for seed in seeds { if let key = try? AccessLogKeyPair.open(sealed, seed: seed.bytes) { return key } }
        throw Refusal(.keyDestroyed)
    }

    // MARK: Parts

    /// Returns the stored state, from memory if it was read or written before, since only this vault writes it. Damaged state is set aside;
    /// the log then continues, and its reader sees that older records do not open and that the log's beginning is unknown.
    func logState(_ state: inout VaultState) throws(Refusal) -> AccessLogState {
        // Keeping the log does not count as a use of the keychain.
        state.applyExpirations(host, isUse: false)
        finishErasure(&state)
        if let known = state.accessLog { return known }
        let bytes: [UInt8]
        do throws(StateError) {
            guard let found = try host.store.read(.accessLog, of: user, max: EnclaveLimits.accessLogBytesMax) else {
                // If a file was set aside and nothing could be written since, a new log would claim that no record was ever erased.
                return AccessLogState(began: try host.store.quarantined(.accessLog, of: user).isEmpty ? 0 : nil)
            }
            bytes = found
        } catch {
            throw Refusal(.storageFailed, "the state of the access log cannot be read: \(error)")
        }
        do {
            let stored = try AccessLogState(derBytes: StateEnvelope.open(bytes, name: .accessLog, user: user, backend: host.backend))
            state.accessLog = stored
            return stored
        } catch let error as DERError where error.newerVersion != nil {
            throw Self.newerLog
        } catch {
            do throws(StateError) {
                _ = try host.store.quarantine(.accessLog, of: user)
            } catch {
                throw Refusal(.storageFailed, "the damaged state of the access log cannot be set aside: \(error)")
            }
            // Written at once, so that it does not depend on the file that was set aside.
            let unknown = AccessLogState(began: nil)
            if case .durable = try host.write(unknown, to: .accessLog, user: user) { state.accessLog = unknown }
            return unknown
        }
    }

    private func writeLog(_ log: AccessLogState, _ state: inout VaultState) throws(Refusal) {
        // After a failure only the disk determines which state is stored, so the next use reads it again.
        state.accessLog = nil
        try host.write(log, to: .accessLog, user: user).throwIfUnsure()
        state.accessLog = log
    }

    private func newLogKeyPair(_ state: inout VaultState) throws(Refusal) -> AccessLogKeyPair {
        let (bag, classKey) = try logClassKey(&state)
        let (outer, changed) = try bag.keyForPrivateKeys(Self.logClass, under: classKey)
        if changed != bag { try state.replaceKeybag(changed, host) }
        do {
            return try AccessLogKeyPair.make(wrappedBy: outer.key, generation: outer.generation, context: logContext)
        } catch {
            throw Refusal(.internalError, "the keys of the access log cannot be made")
        }
    }

    func logClassKey(_ state: inout VaultState) throws(Refusal) -> (Keybag, HeldKey) {
        let (bag, ring) = try state.createIfNeeded(host)
        guard let current = bag.current(.protection(Self.logClass)),
            let classKey = ring.key(.protection(Self.logClass), generation: current.generation)
        else { throw Self.closed(ring) }
        return (bag, classKey)
    }

    private static func logSlot(of pair: AccessLogKeyPair, in bag: Keybag) -> KeySlot? {
        bag.slots.first { $0.purpose == .privateKeys(logClass) && $0.generation == pair.generation }
    }

    private func logContext(_ pair: AccessLogKeyPair) -> [UInt8] {
        host.backend.deviceIdentifier + withUnsafeBytes(of: user.bigEndian) { Array($0) } + pair.generation
            + Array(SHA256.hash(data: pair.publicKey))
    }

    private static var newerLog: Refusal {
        Refusal(.unsupported, "The access log on this device was written by a later version of Vauban; install that version again")
    }
}
