internal import Crypto
internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanRefusal

/// The leased keys during one request. A missing key is requested once; after that its class counts as locked.
final class RequestKeys {
    let user: UInt32
    private let leasedKeys: LeasedKeyStore
    private let sleepClock: SleepClock
    private let enclave: any EnclaveOperations
    /// The enclave's reply in this request, if there was one, and the number of requests.
    private var lease: KeyLease?
    private var renewals = 0

    init(user: UInt32, leasedKeys: LeasedKeyStore, sleepClock: SleepClock, enclave: any EnclaveOperations) {
        self.user = user
        self.leasedKeys = leasedKeys
        self.sleepClock = sleepClock
        self.enclave = enclave
    }

    func use<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8]?, _ body: (SymmetricKey) throws -> Value
    ) throws -> Value? {
        try useHeld(purpose, generation: generation) { key, _ in try body(key) }
    }

    func useIndex<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8], _ body: (IndexKey) throws -> Value
    ) throws -> Value? {
        try useHeld(purpose, generation: generation) { key, repeated in try body(IndexKey(key, repeated)) }
    }

    private func useHeld<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8]?, body: (SymmetricKey, RepeatedBlinds) throws -> Value
    ) throws -> Value? {
        dropAfterSleep()
        repeat {
            if let value = try leasedKeys.use(purpose, generation: generation, of: user, body) { return value }
        } while try renew(for: purpose, generation)
        return nil
    }

    /// Returns the generation of the current key; nil if it is not available.
    func currentGeneration(of purpose: KeyLease.Purpose) throws -> [UInt8]? {
        dropAfterSleep()
        repeat {
            if let generation = leasedKeys.currentGeneration(of: purpose, user: user) { return generation }
        } while try renew(for: purpose, nil)
        return nil
    }

    /// Returns the generation for a new row of a class. Throws the refusal that explains why there is none.
    func generationToWrite(_ protection: ProtectionClass) throws -> [UInt8] {
        if let generation = try currentGeneration(of: .metadata(protection)) { return generation }
        if protection.needsPasscode, lease?.passcodeIsSet == false {
            throw Refusal(.passcodeNotSet, "items of this class need a passcode; run: vauban passcode set")
        }
        throw closed
    }

    /// The refusal for a missing class key. If everything is unlocked, the key was replaced by another.
    var closed: Refusal {
        switch lease?.lock {
        case .beforeFirstUnlock: Refusal(.beforeFirstUnlock)
        case .unlocked: Refusal(.keysChanged)
        default: Refusal(.locked)
        }
    }

    var isUnlocked: Bool { lease?.lock == .unlocked }

    /// Drops all keys, since the enclave's keys have changed during this request.
    func startOver() {
        leasedKeys.forget(user)
        lease = nil
    }

    /// Requests a new lease, whatever was leased before.
    func leaseAnew() throws -> KeyLease {
        startOver()
        try renew()
        guard let lease else { throw closed }
        return lease
    }

    /// Drops the keys if the machine has slept. Someone other than the user may have woken it, so the enclave must decide again whether
    /// keys may be used, even during a request.
    private func dropAfterSleep() {
        if leasedKeys.drop(ifSleptSince: sleepClock.slept()) { lease = nil }
    }

    /// Requests a lease if that can provide a missing key: once in a request, and again if the key was leased and has been dropped since.
    /// Returns false if the key is not available.
    private func renew(for purpose: KeyLease.Purpose, _ generation: [UInt8]?) throws -> Bool {
        if let lease {
            let wasLeased = lease.keys.contains { $0.purpose == purpose && (generation == nil || generation == $0.generation) }
            guard wasLeased else { return false }
            // The enclave recalls keys as fast as it leases them, so the user is locking.
            guard renewals < KeychainLimits.attemptsMax else { throw Refusal(.locked) }
        }
        try renew()
        return true
    }

    private func renew() throws {
        renewals += 1
        for _ in 0..<KeychainLimits.attemptsMax {
            // Read before the lease is requested, so that a sleep during the request counts.
            let slept = sleepClock.slept()
            let leased = try enclave.lease()
            guard leased.lease.user == user else { throw Refusal(.internalError, "the enclave leased another user's keys") }
            if leasedKeys.install(leased, slept: slept) {
                lease = leased.lease
                return
            }
        }
        throw Refusal(.locked)
    }
}
