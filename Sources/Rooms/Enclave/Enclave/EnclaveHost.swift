// The environment of the enclave's logic: a backend, storage for small state files, and a clock. No caller can choose any of them.

internal import Synchronization
package import VaubanPasscode
package import VaubanSecretBytes

/// The interface that a hardware backend would implement in place of the software one. The device secret never leaves it.
package protocol EnclaveBackend: Sendable {
    /// The public identifier of the device secret. It reveals whether state was made under another secret.
    var deviceIdentifier: [UInt8] { get }
    /// Derives 32 bytes that only this device can derive: HKDF-SHA256 of the device secret. `label` separates the uses.
    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes
    /// Derives 32 bytes from this device's secret and an input: HMAC-SHA256 of `input` under such a device key.
    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes
}

/// The backend does not work. The machine is to blame, and not a file. The text is shown to the user.
package struct BackendError: Error, Sendable {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// A backend for a machine whose real one does not work. The room still runs and refuses every request with the reason, since without a
/// running room the user would get no explanation.
package struct BrokenBackend: EnclaveBackend {
    private let error: BackendError
    package let deviceIdentifier = [UInt8](repeating: 0, count: 16)

    package init(_ error: BackendError) { self.error = error }

    package func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { throw error }
    package func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { throw error }
}

/// Storage for a user's state files. `replace` is durable when it returns; if it fails, the old content remains, except for `unsure`. The
/// result of `read` is durable too.
package protocol StateStore: Sendable {
    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]?
    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError)
    /// Sets an unusable file aside and returns its new name.
    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String
    /// Returns the names under which this user's file was set aside, as far as they still exist.
    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String]
}

package enum StateName: String, CaseIterable, Sendable {
    case keybag
    case attempts
    /// This device's part of a circle of devices (Specs/sync.md).
    case circle
    /// The keys and the end of the access log (Specs/access-log.md).
    case accessLog = "log"
    /// Belongs to the device, not to a user.
    case pairing

    /// The bytes of the file at most. A larger one is not written, since it could not be read again.
    package var bytesMax: Int {
        switch self {
        case .keybag: EnclaveLimits.keybagBytesMax
        case .attempts, .pairing: EnclaveLimits.attemptRecordBytesMax
        case .circle: EnclaveLimits.circleBytesMax
        case .accessLog: EnclaveLimits.accessLogBytesMax
        }
    }
}

/// Why a state file was not read or written. The disk is to blame.
package enum StateError: Error, CustomStringConvertible, Sendable {
    case full
    case failed(String)
    /// The new content is in place, but a power failure may restore the old one. The writer must count the attempt in progress, and must
    /// read the file again before it relies on either content: reading makes it durable or throws.
    case unsure(String)

    package var description: String {
        switch self {
        case .full: "the disk is full"
        case .failed(let why), .unsure(let why): why
        }
    }
}

/// The clock for delays and challenges: nanoseconds since boot, including sleep.
package protocol EnclaveClock: Sendable {
    var boot: UInt64 { get }
    /// The same without sleep, to measure durations.
    var monotonic: UInt64 { get }
    /// Microseconds since 2001-01-01, for dates shown to the user. No decision depends on it.
    var referenceMicroseconds: Int64 { get }
}

extension EnclaveClock {
    /// How long the machine has slept since the boot, in nanoseconds. Reads the smaller clock first, so that the time between the two
    /// readings cannot make the sleep look shorter.
    var asleep: UInt64 {
        let awake = monotonic
        let all = boot
        return all > awake ? all - awake : 0
    }
}

/// Whether a fingerprint reader is connected and ready. The room that has its connection sets it.
package final class ReaderPresence: Sendable {
    private let flag = Atomic(false)
    private let number = Atomic<UInt64>(0)
    package init() {}
    /// The number of the reader's connection. Keys that a reader held on an earlier connection are void.
    package var connection: UInt64 { number.load(ordering: .acquiring) }
    package func beginConnection() { number.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    package var isPresent: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}

/// The environment that a vault runs in.
package struct EnclaveHost: Sendable {
    package let backend: any EnclaveBackend
    package let store: any StateStore
    package let clock: any EnclaveClock
    package let stretcher: PasscodeStretcher
    package let delays: DelayProfile
    package let policy: PasscodePolicy
    package let reader = ReaderPresence()
    package let derivations = DerivationQueue()
    /// Returns the owner of shared resources for a uid: a user's subordinate uids belong to that user.
    package var owner: @Sendable (UInt32) -> UInt32 = { $0 }
    /// Receives each step of the evidence protocol. Only tests set it.
    package let trace: (@Sendable (String) -> Void)?
    /// Sentences for the user about protections that this process lacks on this machine, and a warning if the machine is a copy. `vauban
    /// status` shows them.
    package var missingProtections: [String] = []
    /// Whether a change of the enrolled fingerprints can be detected. In user mode the reader runs as the user, so any of their programs
    /// could claim that nothing changed.
    package var distinguishesFingerSets = true

    package init(
        backend: any EnclaveBackend, store: any StateStore, clock: any EnclaveClock, stretcher: PasscodeStretcher,
        delays: DelayProfile = .rolling, policy: PasscodePolicy = .software, trace: (@Sendable (String) -> Void)? = nil
    ) {
        self.backend = backend
        self.store = store
        self.clock = clock
        self.stretcher = stretcher
        self.delays = delays
        self.policy = policy
        self.trace = trace
    }
}
