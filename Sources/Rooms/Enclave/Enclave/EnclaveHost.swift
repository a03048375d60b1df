// What the enclave's logic takes from outside: a backend, a place for small state, a clock. Nothing here is chosen by
// a caller.

internal import Synchronization
package import VaubanPasscode
package import VaubanSecretBytes

/// The joint at which a hardware backend takes the place of the software one. The device secret never leaves it.
package protocol EnclaveBackend: Sendable {
    /// A public number of the device secret; state made under another secret is known by it.
    var deviceIdentifier: [UInt8] { get }
    /// 32 bytes that only this device can derive, for one use: HKDF-SHA256 of the device secret; `label` separates uses.
    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes
    /// 32 bytes that need this device and a secret that it does not have: HMAC-SHA256 under such a device key.
    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes
}

/// The backend cannot work; the text is for the user.
package struct BackendError: Error, Sendable {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Stands in for a backend that cannot work, so that the room runs and every request is refused with the reason, where
/// a room that does not start would leave the user with silence.
package struct BrokenBackend: EnclaveBackend {
    private let fault: BackendError
    package let deviceIdentifier = [UInt8](repeating: 0, count: 16)

    package init(_ fault: BackendError) { self.fault = fault }

    package func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { throw fault }
    package func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { throw fault }
}

/// Where the enclave keeps a user's few state files. Replacing is durable before it returns, or throws and leaves
/// the old content, but for `unsure`. What is read is durable, too.
package protocol StateStore: Sendable {
    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]?
    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError)
    /// Puts a file that cannot be used aside and answers its new name.
    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String
    /// The names of files that were put aside for this user and still lie there.
    func quarantined(of user: UInt32) throws(StateError) -> [String]
}

package enum StateName: String, CaseIterable, Sendable {
    case keybag
    case attempts
    /// Of the device, not of a user.
    case pairing
}

package enum StateError: Error, Sendable {
    case full
    case failed(String)
    /// The new content stands, and a power cut may bring the old one back. Whoever writes must count a try that was being
    /// counted, and believe nothing else of either content before it was read again, which makes it durable or throws.
    case unsure(String)
}

/// The clock of delays and challenges, in nanoseconds since the machine's start, sleep included.
package protocol EnclaveClock: Sendable {
    var boot: UInt64 { get }
    /// The same without sleep: the clock of how long something took.
    var monotonic: UInt64 { get }
    /// Microseconds since 2001-01-01, to say when something happened; nothing is decided by it.
    var referenceMicroseconds: Int64 { get }
}

extension EnclaveClock {
    /// How long the machine has slept since its start. The smaller clock is read first: what passes between must not
    /// look like less sleep than there was.
    var asleep: UInt64 {
        let awake = monotonic
        let all = boot
        return all > awake ? all - awake : 0
    }
}

/// Whether a fingerprint reader can be asked now. The room that holds its line knows.
package final class ReaderPresence: Sendable {
    private let flag = Atomic(false)
    package init() {}
    package var isThere: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}

/// What a room is made of.
package struct EnclaveHost: Sendable {
    package let backend: any EnclaveBackend
    package let store: any StateStore
    package let clock: any EnclaveClock
    package let stretcher: PasscodeStretcher
    package let delays: DelayProfile
    package let policy: PasscodePolicy
    package let reader = ReaderPresence()
    package let derivations = DerivationQueue()
    /// Who answers for a user's requests where users share something: a user's subordinate uids are that user.
    package var owner: @Sendable (UInt32) -> UInt32 = { $0 }
    /// Told of each step of the evidence protocol; only tests have one.
    package let trace: (@Sendable (String) -> Void)?
    /// What the machine lacks for the protections of this process, and that it is a copy, as sentences for the user;
    /// `status` shows them.
    package var missingProtections: [String] = []
    /// Whether a set of enrolled fingers can be told from another. Where the reader is of the user's own user it cannot: any
    /// program of theirs could say that nothing changed.
    package var tellsFingerSets = true

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
