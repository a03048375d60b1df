internal import Crypto
internal import EnclaveWire
internal import VaubanAccessPolicy

/// The lent keys as one request sees them: what is not here is asked for once, then it is known to be closed.
final class KeyBorrower {
    let person: UInt32
    private let lent: LentKeys
    private let enclave: any EnclaveLine
    /// What the enclave said in this request, if it was asked.
    private var lease: KeyLease?

    init(person: UInt32, lent: LentKeys, enclave: any EnclaveLine) {
        self.person = person
        self.lent = lent
        self.enclave = enclave
    }

    func use<Value: Sendable>(
        _ purpose: KeyLease.Purpose, generation: [UInt8]?, _ body: (SymmetricKey) throws -> Value
    ) throws -> Value? {
        if let value = try lent.use(purpose, generation: generation, of: person, body) { return value }
        guard try renewOnce() else { return nil }
        return try lent.use(purpose, generation: generation, of: person, body)
    }

    /// The generation of the current key; nil when it is closed.
    func currentGeneration(of purpose: KeyLease.Purpose) throws -> [UInt8]? {
        if let generation = lent.currentGeneration(of: purpose, person: person) { return generation }
        guard try renewOnce() else { return nil }
        return lent.currentGeneration(of: purpose, person: person)
    }

    /// The generation for a new row of a class, or the refusal that says why there is none.
    func generationToWrite(_ protection: Protection) throws -> [UInt8] {
        if let generation = try currentGeneration(of: .metadata(protection)) { return generation }
        if protection.needsPasscode, lease?.passcodeIsSet == false {
            throw Refusal(.passcodeNotSet, "items of this class need a passcode")
        }
        throw closed
    }

    /// Why a key of a class is not here.
    var closed: Refusal {
        lease?.lock == .beforeFirstUnlock ? Refusal(.beforeFirstUnlock) : Refusal(.locked)
    }

    var isUnlocked: Bool { lease?.lock == .unlocked }

    /// Begins again with nothing, since the enclave's keys have changed under this request.
    func startOver() {
        lent.forget(person)
        lease = nil
    }

    private func renewOnce() throws -> Bool {
        guard lease == nil else { return false }
        for _ in 0..<KeychainLimits.attemptsMax {
            let leased = try enclave.lease()
            guard leased.lease.person == person else { throw Refusal(.internalFault, "the enclave lent another person's keys") }
            if lent.install(leased) {
                lease = leased.lease
                return true
            }
        }
        // Recalled as fast as it is lent: the person is locking.
        throw Refusal(.locked)
    }
}
