import Enclave
import EnclaveSoftware
import SimulatedHost
import Synchronization
import VaubanDER
import VaubanLinuxHost
import VaubanPasscode
import VaubanSecretBytes

// One machine for one trial: a disk with given content, clocks that stand still, and a record of everything that reaches the disk.

/// The clocks of a machine: nanoseconds, and microseconds for the wall clock.
struct Times: Hashable {
    var boot: UInt64 = 1_000_000_000_000
    var asleep: UInt64 = 0
    var wall: Int64 = 0
    /// Seconds that really passed, over all starts of the machine: the cost of guessing for a thief.
    var total = 0

    mutating func pass(_ seconds: Int, asleep isAsleep: Bool = false) {
        boot += UInt64(seconds) * 1_000_000_000
        if isAsleep { asleep += UInt64(seconds) * 1_000_000_000 }
        total += seconds
    }

    /// Restarts the machine: its clock begins again.
    mutating func reboot() { (boot, asleep) = (1_000_000_000, 0) }

    /// Sets the wall clock to any time, forward or back.
    mutating func jump() {
        var chance = SplitMix64(seed: UInt64(bitPattern: wall))
        wall = Int64.random(in: -(1 << 60)...(1 << 60), using: &chance)
    }
}

/// A flaw of a host, so that a test can show that the comparison finds it.
enum Flaw: String, CaseIterable {
    case attemptsNotWritten = "a store that does not write the record of tries"
    case reportedTooEarly = "a store that answers before anything is durable"
    case writtenInPlace = "a store that writes files over in place"
    case oldKeybagRead = "a store that gives the keybag before the newest"
    case sleepUnseen = "a clock that does not see sleep"
    case bootClockIsWall = "a boot-time clock that follows the wall clock"
    case noDelays = "a profile without delays"
    case shortDelays = "a profile with six free tries"
    case weakPasscodes = "a policy that takes any passcode"
    case otherDevice = "a device secret that changes at a restart"
    case readerAlwaysThere = "a reader that is always there"
}

private struct FrozenClock: EnclaveClock {
    let times: Times
    let flaw: Flaw?

    var boot: UInt64 { flaw == .bootClockIsWall ? UInt64(bitPattern: times.wall &+ (1 << 61)) : times.boot }
    var monotonic: UInt64 { flaw == .sleepUnseen || flaw == .bootClockIsWall ? boot : times.boot - times.asleep }
    var referenceMicroseconds: Int64 { times.wall }
}

final class StorageLog: Sendable {
    private let list = Mutex<[StorageEvent]>([])
    let disk: SimulatedDisk

    init(_ disk: SimulatedDisk) { self.disk = disk }

    var events: [StorageEvent] { list.withLock { $0 } }
    func clear() { list.withLock { $0 = [] } }

    func note(_ action: StorageEvent.Action) {
        let event = StorageEvent(action: action, steps: disk.steps)
        list.withLock { $0.append(event) }
    }
}

private struct RecordingBackend: EnclaveBackend {
    let inner: any EnclaveBackend
    let log: StorageLog

    var deviceIdentifier: [UInt8] { inner.deviceIdentifier }
    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        try inner.deviceKey(label: label, context: context)
    }

    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        log.note(.tangled)
        return try inner.tangle(input, label: label, context: context)
    }
}

private struct RecordingStore: StateStore {
    let inner: any StateStore
    let log: StorageLog

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        do throws(StateError) {
            let bytes = try inner.read(name, of: user, max: max)
            log.note(.read(name, succeeded: true))
            return bytes
        } catch {
            log.note(.read(name, succeeded: false))
            throw error
        }
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        do throws(StateError) {
            try inner.replace(name, of: user, with: bytes)
            log.note(.wrote(name, bytes, .durable))
        } catch {
            let end: StorageEvent.End =
                switch error {
                case .full: .full
                case .failed: .failed
                case .unsure: .unsure
                }
            log.note(.wrote(name, bytes, end))
            throw error
        }
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String {
        log.note(.putAside(name))
        return try inner.quarantine(name, of: user)
    }

    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] {
        do throws(StateError) {
            let names = try inner.quarantined(name, of: user)
            log.note(.listed(succeeded: true))
            return names
        } catch {
            log.note(.listed(succeeded: false))
            throw error
        }
    }
}

struct Machine {
    static let user: UInt32 = 1000
    static let stretcher = PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1))

    let disk: SimulatedDisk
    let log: StorageLog
    let host: EnclaveHost

    init(image: DiskImage, times: Times, device: any EnclaveBackend, readerIsPresent: Bool, flaw: Flaw?) {
        let disk = SimulatedDisk(image)
        let log = StorageLog(disk)
        (self.disk, self.log) = (disk, log)
        let files: any StateStore = flaw.flatMap { FlawedStore($0, disk) } ?? FileStateStore(in: disk.root)
        let delays: DelayProfile =
            switch flaw {
            case .noDelays: DelayProfile(freeAttempts: 5, seconds: [])
            case .shortDelays: DelayProfile(freeAttempts: 6, seconds: DelayProfile.rolling.seconds)
            default: .rolling
            }
        let anything = PasscodePolicy(charactersMin: 1, digitsMin: 1, allowsObvious: true, offlineGuessSeconds: nil)
        host = EnclaveHost(
            backend: RecordingBackend(inner: device, log: log), store: RecordingStore(inner: files, log: log),
            clock: FrozenClock(times: times, flaw: flaw), stretcher: Self.stretcher, delays: delays,
            policy: flaw == .weakPasscodes ? anything : .software)
        host.reader.isPresent = readerIsPresent || flaw == .readerAlwaysThere
    }

    /// Returns the file as a process reads it.
    static func file(_ name: StateName, in image: DiskImage) -> [UInt8]? { image.files["people/\(user)/\(name.rawValue)"] }

    /// Returns the keybag on the disk, read without the enclave.
    func keybag() throws -> Keybag {
        guard let bytes = Self.file(.keybag, in: disk.image) else { throw Difference("there is no keybag on the disk") }
        return try Keybag(derBytes: StateEnvelope.open(bytes, name: .keybag, user: Self.user, backend: host.backend))
    }
}
