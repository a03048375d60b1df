import Crypto
import Enclave
import EnclaveWire
import Foundation
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

/// An enclave without a machine: state in memory, a clock that stands still until it is moved, a device secret from a seed, and a passcode
/// cost that tests can afford. Starting it again is a restart over the same files.
struct Workbench {
    static let user: UInt32 = 1000
    static let passcode = "correct horse"
    static let otherPasscode = "battery staple"

    let journal: Journal
    let store: MemoryStore
    let clock = ManualClock()
    let device: MemoryDevice

    init(files: [String: [UInt8]] = [:], device seed: UInt8 = 1) { self.init(files: files, secret: [UInt8](repeating: seed, count: 32)) }

    init(files: [String: [UInt8]], secret: [UInt8]) {
        journal = Journal()
        store = MemoryStore(files, journal)
        device = MemoryDevice(secret: secret, journal)
    }

    var host: EnclaveHost {
        EnclaveHost(backend: device, store: store, clock: clock, stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
    }

    func start(_ user: UInt32 = user) -> Vault { Vault(user: user, host: host) }

    /// Starts it with a fingerprint reader, whose presence the test controls.
    func startAtReader(_ user: UInt32 = user) -> (Vault, ReaderPresence) {
        let host = host
        host.reader.isPresent = true
        return (Vault(user: user, host: host), host.reader)
    }

    /// Returns a vault with a passcode, an enrolled finger and a reader, unlocked.
    func startEnrolled(unlocks: Bool = true) throws -> (Vault, ReaderPresence) {
        let (vault, reader) = startAtReader()
        try vault.setPasscode(secret(Self.passcode))
        try vault.enroll(fingers: Sample.fingers, unlocks: unlocks, passcodeKey: vault.authenticate(secret(Self.passcode)))
        return (vault, reader)
    }

    /// Returns a vault with a passcode, unlocked.
    func startProtected(_ passcode: String = passcode) throws -> Vault {
        let vault = start()
        try vault.setPasscode(secret(passcode))
        return vault
    }

    /// Returns the keybag in the store.
    func keybag(of user: UInt32 = user) throws -> Keybag {
        let bytes = try #require(store.files["\(user)/keybag"])
        return try Keybag(derBytes: StateEnvelope.open(bytes, name: .keybag, user: user, backend: device))
    }

    func attempts(of user: UInt32 = user) throws -> AttemptRecord {
        let bytes = try #require(store.files["\(user)/attempts"])
        return try AttemptRecord(derBytes: StateEnvelope.open(bytes, name: .attempts, user: user, backend: device))
    }

    /// Destroys the older class keys, as keychaind has it done when no row needs them.
    func retireOlderKeys(in vault: Vault) throws {
        let bag = try keybag()
        try vault.retire(bag.slots.filter { KeyPurpose.classes.contains($0.purpose) && bag.keyStatus(of: $0.name) == .older }.map(\.name))
    }

    /// Puts a state file in place as if the enclave had written it.
    func put(_ content: some DERWritable, as name: StateName, of user: UInt32 = user) throws {
        let envelope = try StateEnvelope(content: try content.encoded(), name: name, user: user, backend: device)
        store.files["\(user)/\(name.rawValue)"] = try envelope.encoded()
    }

    /// Returns a row of a class as it would be written now.
    func row(_ protection: ProtectionClass = .whenUnlocked, _ flags: AccessControlFlags? = nil) throws -> RowBinding {
        Sample.row(protection, flags, generation: try keybag().current(.protection(protection))?.generation ?? Sample.lostGeneration)
    }
}

enum Sample {
    static let lostGeneration = [UInt8](repeating: 0xEE, count: 8)
    /// Two lists of fingers, as a reader's digest names them.
    static let fingers = [UInt8](repeating: 0xF1, count: 32)
    static let otherFingers = [UInt8](repeating: 0xF2, count: 32)

    static func row(
        _ protection: ProtectionClass, _ flags: AccessControlFlags? = nil, generation: [UInt8],
        format: RowBinding.Format = .generationSeparate
    ) -> RowBinding {
        RowBinding(
            format: format, user: Workbench.user, protection: protection, generation: generation,
            item: [UInt8](repeating: 1, count: 16),
            version: [UInt8](repeating: 2, count: 16), kind: 1, accessGroup: "unsigned",
            accessControl: flags.flatMap { try? AccessControl(protection: protection, flags: $0) })
    }
}

/// A sealed row with the key that opening it must return.
struct SealedRow {
    let row: RowBinding
    let wrapped: [UInt8]
    let key: [UInt8]

    init(_ row: RowBinding, in vault: Vault, password: String? = nil) throws {
        let sealed = try vault.sealWith(password, row)
        self.row = row
        wrapped = sealed.wrapped
        key = bytes(sealed.key)
    }

    /// Creates a row that was not made by the code under test.
    init(_ row: RowBinding, wrapped: [UInt8], key: [UInt8]) {
        self.row = row
        self.wrapped = wrapped
        self.key = key
    }
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

func bytes(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// Returns the refusal of a step; nil if it was not refused.
func refusal(_ step: () throws -> Void) -> Refusal? {
    do {
        try step()
        return nil
    } catch let refusal as Refusal {
        return refusal
    } catch {
        Issue.record("an error that is no refusal: \(error)")
        return nil
    }
}

extension Vault {
    func sealWith(_ password: String?, _ row: RowBinding) throws -> SealedItemKey {
        let given: SecretBytes? = if let password { secret(password) } else { nil }
        return try seal(row, password: given)
    }

    func finishWith(_ password: String?, _ opening: PendingOpening, evidence gathered: OperationEvidence) throws -> [UInt8] {
        let given: SecretBytes? = if let password { secret(password) } else { nil }
        return bytes(try finish(opening, gathered, password: given))
    }

    /// Returns a row whose class is open and that needs more evidence.
    func opening(_ sealed: SealedRow) throws -> PendingOpening {
        guard case .layered(let opening) = try open(sealed.row, wrapped: sealed.wrapped) else {
            throw Refusal(.internalError, "the row needs nothing")
        }
        return opening
    }

    /// Opens a row and, if the user is prompted, answers with this passcode.
    func read(_ sealed: SealedRow, passcode: String? = nil, password: String? = nil) throws -> [UInt8] {
        try read(sealed.row, sealed.wrapped, passcode: passcode, password: password)
    }

    func read(_ row: RowBinding, _ wrapped: [UInt8], passcode: String? = nil, password: String? = nil) throws -> [UInt8] {
        switch try open(row, wrapped: wrapped) {
        case .opened(let key): return bytes(key)
        case .layered(let opening):
            switch evaluate(try checkSatisfiable(opening), for: row.protection, Evidence()) {
            case .refuse(let reason): throw Refusal(reason)
            case .allow: return try finishWith(password, opening, evidence: OperationEvidence())
            case .prompt:
                guard let passcode else { throw Refusal(.interactionNotAllowed) }
                return try finishWith(password, opening, evidence: try gather(passcode))
            }
        }
    }

    /// Opens a row with a matched fingerprint, and also with a passcode if one is given.
    func read(_ sealed: SealedRow, fingers: [UInt8], passcode: String? = nil) throws -> [UInt8] {
        let opening = try opening(sealed)
        let gathered = if let passcode { try gather(passcode) } else { OperationEvidence() }
        gathered.evidence.finger = try acceptFingerMatch(fingers: fingers)
        return try finishWith(nil, opening, evidence: gathered)
    }

    /// Returns what a row prompts for; nil if there is no prompt.
    func asks(for sealed: SealedRow) throws -> AuthenticationMethods? {
        guard case .layered(let opening) = try open(sealed.row, wrapped: sealed.wrapped) else { return nil }
        switch evaluate(try checkSatisfiable(opening), for: sealed.row.protection, Evidence()) {
        case .prompt(let methods): return methods
        case .allow: return nil
        case .refuse(let reason): throw Refusal(reason)
        }
    }

    /// Returns the evidence of a passcode.
    func gather(_ passcode: String) throws -> OperationEvidence {
        let key = try authenticate(secret(passcode))
        return shown(key)
    }

    /// Returns the evidence of a key, as if a passcode had just provided it.
    func shown(_ key: consuming SecretBytes) -> OperationEvidence {
        let gathered = OperationEvidence()
        gathered.passcodeKey = consume key
        gathered.evidence.passcode = boot
        return gathered
    }
}

extension Vault {
    /// Returns what must be recalled, and confirms the recall.
    func takeEndedEpoch() -> RecalledEpoch? {
        let ended = endedEpoch
        if let ended { confirmRecall(of: ended) }
        return ended
    }
}
