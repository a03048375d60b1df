// One person's keys and state. Everything that is decided about them is decided here, under one lock.

internal import Synchronization
package import VaubanAccessPolicy
import VaubanDER
import VaubanSecretBytes

package final class Vault: Sendable {
    package let person: UInt32
    let host: EnclaveHost
    let state: Mutex<VaultState>
    /// One derivation of a person waits for the enclave's turn at a time, so that nobody's many hold up another's one.
    let derivation = Mutex<Void>(())

    /// Reads the person's state. What cannot be read is put aside and reported, never replaced.
    package init(person: UInt32, host: EnclaveHost) {
        self.person = person
        self.host = host
        state = Mutex(VaultState.load(person: person, host: host))
    }

    package var status: DeviceStatus {
        state.withLock { state in
            let failures = state.attempts?.failures ?? 0
            let wait = state.secondsToWait(now: host.clock.boot)
            let left = wait > 0 ? 0 : max(host.delays.triesLeft(afterFailures: failures), 1)
            return DeviceStatus(
                lock: state.unreadable == nil ? state.ring?.lock ?? .unlocked : .unreadable, cause: state.cause, since: state.since,
                passcodeIsSet: state.keybag?.passcode != nil, triesLeft: left, secondsToWait: wait, warnings: state.warnings + host.missingProtections)
        }
    }

    /// Erases the class-A keys. Answers the epoch that ended: what was lent in it is to be given back.
    package func lock() throws(Refusal) -> Int64 {
        try state.withLock { (state) throws(Refusal) -> Int64 in
            let (bag, ring) = try state.created(person: person, host: host)
            guard bag.passcode != nil else {
                throw Refusal(.passcodeNotSet, "without a passcode nothing could unlock again; run: vauban passcode set")
            }
            if case .unlocked = ring { state.become(ring.afterLock, .lockRequested, host) }
            return state.endEpoch()
        }
    }

    package func canEvaluate(_ policy: OwnerPolicy) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            try state.throwIfUnreadable()
            if policy == .biometry { throw Refusal(.biometryNotAvailable) }
            guard state.keybag?.passcode != nil else { throw Refusal(.passcodeNotSet) }
        }
    }
}

/// What a vault knows. `ring` and `keybag` are there together or not at all.
struct VaultState {
    var keybag: Keybag?
    var ring: KeyRing?
    var attempts: AttemptRecord?
    /// Boot-time clock, nanoseconds: no try before.
    var notBefore: UInt64 = 0
    var epoch: Int64 = 0
    var cause: DeviceStatus.Cause = .started
    var since: Int64
    var warnings: [String] = []
    /// Set when the person's state was put aside; then everything is refused with this sentence.
    var unreadable: String?

    func throwIfUnreadable() throws(Refusal) {
        if let unreadable { throw Refusal(.stateUnreadable, unreadable) }
    }

    func secondsToWait(now: UInt64) -> Int64 {
        now >= notBefore ? 0 : Int64((notBefore - now + 999_999_999) / 1_000_000_000)
    }

    /// Begins a new epoch; answers the one that ended.
    mutating func endEpoch() -> Int64 {
        defer { epoch += 1 }
        return epoch
    }

    mutating func become(_ ring: KeyRing, _ cause: DeviceStatus.Cause, _ host: EnclaveHost) {
        self.ring = ring
        self.cause = cause
        since = host.clock.referenceMicroseconds
    }

    /// The keybag and the open keys; the first use makes them, without a passcode.
    mutating func created(person: UInt32, host: EnclaveHost) throws(Refusal) -> (Keybag, KeyRing) {
        try throwIfUnreadable()
        if let keybag, let ring { return (keybag, ring) }
        let (bag, held) = try Keybag.withoutPasscode(of: person, backend: host.backend)
        try host.write(AttemptRecord(keybag: bag.identifier), .attempts, person)
        try host.write(bag, .keybag, person)
        let open = KeyRing(unlocked: held)
        keybag = bag
        attempts = AttemptRecord(keybag: bag.identifier)
        become(open, .started, host)
        return (bag, open)
    }
}

extension EnclaveHost {
    /// Writes a state file, durably, or refuses with the old one in place.
    func write(_ content: some DERWritable, _ name: StateName, _ person: UInt32) throws(Refusal) {
        let bytes: [UInt8]
        do {
            bytes = try StateEnvelope(content: try content.encoded(), name: name, person: person, backend: backend).encoded()
        } catch {
            throw Refusal(.internalFault, "state cannot be written: \(error)")
        }
        do throws(StateFault) {
            try store.replace(name, of: person, with: bytes)
        } catch {
            switch error {
            case .full: throw Refusal(.storageFull)
            case .failed(let why): throw Refusal(.storageFailed, why)
            }
        }
    }
}
