internal import Crypto
internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanRefusal

/// The lent keys as one request sees them: what is not here is asked for once, then it is known to be closed.
final class KeyBorrower {
    let user: UInt32
    private let lent: LeasedKeyStore
    private let sleepClock: SleepClock
    private let enclave: any EnclaveConnectionThread
    /// What the enclave said in this request, if it was asked, and how often it was.
    private var lease: KeyLease?
    private var renewals = 0

    init(user: UInt32, lent: LeasedKeyStore, sleepClock: SleepClock, enclave: any EnclaveConnectionThread) {
        self.user = user
        self.lent = lent
        self.sleepClock = sleepClock
        self.enclave = enclave
    }

    func use<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8]?, _ body: (SymmetricKey) throws -> Value
    ) throws -> Value? {
        try useHeld(purpose, generation) { key, _ in try body(key) }
    }

    func useIndex<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8], _ body: (IndexKey) throws -> Value
    ) throws -> Value? {
        try useHeld(purpose, generation) { key, repeated in try body(IndexKey(key, repeated)) }
    }

    private func useHeld<Value: Sendable>(
        _ purpose: KeyLease.Purpose, _ generation: [UInt8]?, _ body: (SymmetricKey, RepeatedBlinds) throws -> Value
    ) throws -> Value? {
        dropAfterSleep()
        if let value = try lent.use(purpose, generation: generation, of: user, body) { return value }
        guard try renew(for: purpose, generation) else { return nil }
        return try lent.use(purpose, generation: generation, of: user, body)
    }

    /// The generation of the current key; nil when it is closed.
    func currentGeneration(of purpose: KeyLease.Purpose) throws -> [UInt8]? {
        dropAfterSleep()
        if let generation = lent.currentGeneration(of: purpose, user: user) { return generation }
        guard try renew(for: purpose, nil) else { return nil }
        return lent.currentGeneration(of: purpose, user: user)
    }

    /// The generation for a new row of a class, or the refusal that says why there is none.
    func generationToWrite(_ protection: Protection) throws -> [UInt8] {
        if let generation = try currentGeneration(of: .metadata(protection)) { return generation }
        if protection.needsPasscode, lease?.passcodeIsSet == false {
            throw Refusal(.passcodeNotSet, "items of this class need a passcode")
        }
        throw closed
    }

    /// Why a key of a class is not here. Where everything is open, it is one that has given way to another.
    var closed: Refusal {
        switch lease?.lock {
        case .beforeFirstUnlock: Refusal(.beforeFirstUnlock)
        case .unlocked: Refusal(.keysChanged)
        default: Refusal(.locked)
        }
    }

    var isUnlocked: Bool { lease?.lock == .unlocked }

    /// Begins again with nothing, since the enclave's keys have changed under this request.
    func startOver() {
        lent.forget(user)
        lease = nil
    }

    /// What the enclave lends now, whatever was lent before.
    func leaseAnew() throws -> KeyLease {
        startOver()
        try renew()
        guard let lease else { throw closed }
        return lease
    }

    /// The machine may have been opened by somebody else since it slept: whether keys may be used is the enclave's to
    /// say anew, also in the middle of a request.
    private func dropAfterSleep() {
        if lent.drop(ifSleptSince: sleepClock.slept()) { lease = nil }
    }

    /// Borrows anew where that can bring a key that is not here: once in a request, and again if the enclave had lent it
    /// and another request has dropped it since. False when it is closed.
    private func renew(for purpose: KeyLease.Purpose, _ generation: [UInt8]?) throws -> Bool {
        if let lease {
            let wasLent = lease.keys.contains { $0.purpose == purpose && (generation == nil || generation == $0.generation) }
            guard wasLent, renewals < KeychainLimits.attemptsMax else { return false }
        }
        try renew()
        return true
    }

    private func renew() throws {
        renewals += 1
        for _ in 0..<KeychainLimits.attemptsMax {
            // Looked at before: a sleep while the lease is on its way counts.
            let slept = sleepClock.slept()
            let leased = try enclave.lease()
            guard leased.lease.user == user else { throw Refusal(.internalError, "the enclave lent another user's keys") }
            if lent.install(leased, slept: slept) {
                lease = leased.lease
                return
            }
        }
        // Recalled as fast as it is lent: the user is locking.
        throw Refusal(.locked)
    }
}
