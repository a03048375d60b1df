import Enclave
import EnclaveWire
import SimulatedHost
import VaubanAccessPolicy
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

// The operations of the implementation.

/// The outcome of an operation: its own, that of each row that was made or read, and the rows.
struct Answers {
    var whole: Refusal?
    var made: [Kind: Result<SealedRow, Refusal>] = [:]
    var read: [Item: Refusal?] = [:]
    var renewed: [Item: Result<SealedRow, Refusal>] = [:]
}

enum Texts {
    static let weak = "12345"
    static func of(_ passcode: Passcode) -> String {
        switch passcode {
        case .first: "correct horse"
        case .second: "battery staple"
        case .wrong: "wrong saddle"
        }
    }

    static func recoveryKey(_ number: Int) -> RecoveryKey {
        RecoveryKey(random: SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 16)))
    }
    static func fingers(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 32) }
    static let password = "an application's own"
    static let otherSettings = LockSettings(graceSeconds: 120, idleSeconds: 3000, locksWithScreen: true)
}

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
func bytes(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// The arguments of an operation, from the model's view of the state before it.
struct Arguments {
    let right: Passcode
    let other: Passcode
    let recovery: Int
    /// The recovery key before, or one that never worked.
    let earlierRecovery: Int
    let otherRecovery: Int
    let settings: LockSettings
    let fingers: Int
    let otherFingers: Int

    init(_ model: EnclaveModel, _ stored: StoredFiles) {
        let bag = model.bag ?? stored.bag
        right = bag?.passcode ?? .first
        other = right == .first ? .second : .first
        let used = (bag?.recovery ?? 1, bag?.earlierRecovery ?? 8)
        (recovery, earlierRecovery) = used
        otherRecovery = [1, 2, 3].first { $0 != used.0 && $0 != used.1 } ?? 4
        settings = bag?.settings == .standard ? Texts.otherSettings : .standard
        fingers = bag?.enrollment?.fingers ?? 1
        otherFingers = fingers == 1 ? 2 : 1
    }
}

struct Doing {
    let vault: Vault
    let machine: Machine
    let arguments: Arguments
    let rows: [Item: SealedRow]
    let held: HeldSecret?
    let number: Int

    func perform(_ operation: Operation) throws -> Answers {
        var answers = Answers()
        do { try perform(operation, &answers) } catch let refusal as Refusal { answers.whole = refusal }
        return answers
    }

    private func right() -> SecretBytes { secret(Texts.of(arguments.right)) }
    private func other() -> SecretBytes { secret(Texts.of(arguments.other)) }
    private func wrong() -> SecretBytes { secret(Texts.of(.wrong)) }

    private func perform(_ operation: Operation, _ answers: inout Answers) throws {
        switch operation {
        case .set: try vault.setPasscode(secret(Texts.of(.first)), recoveryKey: Texts.recoveryKey(1))
        case .setWeak: try vault.setPasscode(secret(Texts.weak))
        case .change: try vault.changePasscode(from: right(), to: other())
        case .changeWrong: try noting { try vault.changePasscode(from: wrong(), to: other()) }
        case .roll: try vault.changePasscode(from: right(), to: other(), rolls: true)
        case .remove: try vault.removePasscode(right())
        case .erase: try vault.erase(right())
        case .eraseUnknown: try vault.erase(nil)
        case .unlock: try vault.unlock(right())
        case .unlockWrong: try noting { try vault.unlock(wrong()) }
        case .lock: try vault.lock()
        case .add: try add(&answers)
        case .ask: try read(try gather(right()), &answers)
        case .askWrong: try noting { _ = try vault.authenticate(wrong()) }
        case .showFinger: try read(try finger(), &answers)
        case .renewItems: try renew(&answers)
        case .recover:
            try vault.recover(
                with: Texts.recoveryKey(arguments.recovery), to: other(), newRecoveryKey: Texts.recoveryKey(arguments.otherRecovery))
        case .recoverEarlier:
            try vault.recover(
                with: Texts.recoveryKey(arguments.earlierRecovery), to: other(), newRecoveryKey: Texts.recoveryKey(arguments.otherRecovery))
        case .recoverWrong: try vault.recover(with: Texts.recoveryKey(9), to: other(), newRecoveryKey: nil)
        case .newRecovery: try vault.setRecoveryKey(Texts.recoveryKey(arguments.otherRecovery), passcode: right())
        case .confirmRecovery: try vault.confirmRecoveryKey(Texts.recoveryKey(arguments.recovery))
        case .noRecovery: try vault.setRecoveryKey(nil, passcode: right())
        case .configure: try vault.configure(arguments.settings, passcode: right())
        case .enroll:
            let key = try vault.authenticate(right())
            guard machine.host.reader.isPresent else { throw Refusal(.biometryNotAvailable) }
            try vault.enroll(fingers: Texts.fingers(arguments.otherFingers), unlocks: true, passcodeKey: key)
        case .forget:
            let key = try vault.authenticate(right())
            try vault.endEnrollment(passcodeKey: key)
        case .missFinger: vault.recordFingerMiss()
        case .otherFingers: _ = try vault.acceptFingerMatch(fingers: Texts.fingers(7))
        case .unlockByFinger: try unlockByFinger()
        }
    }

    /// Records a wrong passcode with its program, as the room does.
    private func noting(_ body: () throws -> Void) throws {
        do { try body() } catch let refusal as Refusal where refusal.reason == .authenticationFailed {
            vault.record(FailedAttempt(date: 0, purpose: .unlock, who: "somebody"))
            throw refusal
        }
    }

    private func unlockByFinger() throws {
        if vault.status.lock == .unlocked { return }
        let held = vault.takeHandOver() ?? held
        guard vault.canUnlockByFinger else { throw Refusal(vault.fingerRefusal ?? .biometryLockedOut) }
        guard let held else { throw Difference("an enclave waits for a finger whose reader holds nothing") }
        try vault.unlock(by: try vault.acceptFingerMatch(fingers: Texts.fingers(arguments.fingers)), held.secret)
    }

    // MARK: Rows

    private func add(_ answers: inout Answers) throws {
        _ = try vault.lease()
        let keybag = try machine.keybag()
        for kind in Kind.allCases {
            let generation = keybag.current(.protection(kind.protection))?.generation ?? [UInt8](repeating: 0xEE, count: 8)
            let row = RowBinding(
                user: Machine.user, protection: kind.protection, generation: generation, item: Self.identity(number, kind),
                version: Self.identity(number, kind), kind: 1, accessGroup: "simulated",
                accessControl: try kind.flags.map { try AccessControl(protection: kind.protection, flags: $0) })
            do {
                let sealed = kind.needsPassword ? try vault.seal(row, password: secret(Texts.password)) : try vault.seal(row)
                answers.made[kind] = .success(SealedRow(row: row, wrapped: sealed.wrapped, key: bytes(sealed.key)))
            } catch {
                answers.made[kind] = .failure(error)
            }
        }
    }

    private static func identity(_ number: Int, _ kind: Kind) -> [UInt8] {
        [UInt8](repeating: UInt8(kind.rawValue), count: 8) + withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Returns the evidence of the passcode.
    func gather(_ passcode: consuming SecretBytes) throws -> OperationEvidence {
        let gathered = OperationEvidence()
        gathered.passcodeKey = try vault.authenticate(passcode)
        gathered.evidence.passcode = machine.host.clock.boot
        return gathered
    }

    func finger() throws -> OperationEvidence {
        let gathered = OperationEvidence()
        gathered.evidence.finger = try vault.acceptFingerMatch(fingers: Texts.fingers(arguments.fingers))
        return gathered
    }

    func read(_ gathered: OperationEvidence, _ answers: inout Answers) throws {
        for (item, sealed) in rows {
            do {
                let key = try read(sealed, gathered, needsPassword: item.kind.needsPassword)
                guard key == sealed.key else { throw Difference("a row of kind \(item.kind) gave another key than its own") }
                answers.read[item] = .some(nil)
            } catch let refusal as Refusal {
                answers.read[item] = refusal
            }
        }
    }

    private func read(_ sealed: SealedRow, _ gathered: OperationEvidence, needsPassword: Bool) throws -> [UInt8] {
        switch try vault.open(sealed.row, wrapped: sealed.wrapped) {
        case .opened(let key): return bytes(key)
        case .layered(let opening):
            try vault.checkSatisfiable(opening)
            switch vault.evaluate(opening.requirement, for: sealed.row.protection, gathered.evidence) {
            case .allow: break
            case .prompt: throw Refusal(.interactionNotAllowed)
            case .refuse(let reason): throw Refusal(reason)
            }
            guard needsPassword else { return bytes(try vault.finish(opening, gathered, password: nil)) }
            do {
                _ = try vault.finish(opening, gathered, password: secret("not the application's"))
                throw Difference("a wrong application password opened a row")
            } catch let refusal as Refusal where refusal.reason == .authenticationFailed {
                return bytes(try vault.finish(opening, gathered, password: secret(Texts.password)))
            }
        }
    }

    /// Does what keychaind does after a renewal: moves each open row to the newest key, and retires keys that no row needs.
    private func renew(_ answers: inout Answers) throws {
        _ = try vault.lease()
        let keybag = try machine.keybag()
        var needed: Set<[UInt8]> = []
        for (item, sealed) in rows {
            var kept = sealed
            if let current = keybag.current(.protection(sealed.row.protection)), current.generation != sealed.row.generation {
                do {
                    kept.wrapped = try vault.rewrap(sealed.row, wrapped: sealed.wrapped, to: current.generation)
                    kept.row = sealed.row.with(generation: current.generation)
                    answers.renewed[item] = .success(kept)
                } catch {
                    answers.renewed[item] = .failure(error)
                }
            }
            needed.insert(kept.row.generation)
        }
        let older = keybag.slots.filter { KeyPurpose.classes.contains($0.purpose) && keybag.current($0.purpose) != $0 }
        try vault.retire(older.filter { !needed.contains($0.generation) }.map(\.name))
    }
}
