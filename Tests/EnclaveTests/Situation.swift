import Enclave
import EnclaveWire
import Testing
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes

/// A vault in one state of the table in Specs/key-hierarchy.md, and a row that was made before it entered that state.
struct Situation {
    enum Reading {
        case noRow, opens, asks(String)
        case refused(Refusal)
    }

    static let states = [
        "none", "before first unlock", "unlocked", "locked", "changed", "rolled", "recovered", "set after the row", "removed", "set again",
        "erased", "other device", "biometry ready", "biometry locked out", "fingers changed", "enrollment changed",
    ]
    private static let withFingers = ["biometry ready", "biometry locked out", "fingers changed", "enrollment changed"]
    private static let password = "application's"

    private let vault: Vault
    private let passcode: String?
    private let fingers: [UInt8]
    private let fresh: RowBinding
    /// Nil if none could be made.
    private let sealed: SealedRow?
    private let password: String?

    init(_ state: String, _ protection: ProtectionClass, _ flags: AccessControlFlags?) throws {
        let bench = Workbench()
        password = flags?.contains(.applicationPassword) == true ? Self.password : nil
        var vault = bench.start()
        _ = try vault.lease()
        if Self.withFingers.contains(state) {
            (vault, _) = try bench.startEnrolled()
        } else if !["none", "set after the row"].contains(state) {
            try vault.setPasscode(Workbench.passcode, recovery: EveryUse.recoveryBytes)
        }
        sealed = try? SealedRow(bench.row(protection, flags), in: vault, password: password)

        let first = Workbench.passcode, other = Workbench.otherPasscode
        var passcode: String? = first
        var fingers = Sample.fingers
        switch state {
        case "none": passcode = nil
        case "before first unlock": vault = bench.start()
        case "unlocked", "biometry ready": break
        case "locked": try vault.lock()
        case "changed": try vault.changePasscode(from: secret(first), to: secret(other)); passcode = other
        case "rolled": try vault.changePasscode(from: secret(first), to: secret(first), rolls: true)
        case "recovered": try vault.recover(with: EveryUse.recoveryKey, to: secret(other), newRecoveryKey: nil); passcode = other
        case "set after the row": try vault.setPasscode(secret(first))
        case "removed": try vault.removePasscode(secret(first)); passcode = nil
        case "set again":
            try vault.removePasscode(secret(first))
            try vault.setPasscode(secret(other))
            passcode = other
        case "erased": try vault.eraseWith(first); passcode = nil
        case "other device": vault = Workbench(files: bench.store.files, device: 2).start()
        case "biometry locked out": for _ in 1...DeviceConditions.Biometry.missesMax { vault.recordFingerMiss() }
        case "fingers changed": try vault.verifyEnrolledFingers(Sample.otherFingers)
        case "enrollment changed":
            fingers = Sample.otherFingers
            try vault.enroll(fingers: fingers, unlocks: true, passcodeKey: vault.authenticate(secret(first)))
        default: Issue.record("the state \(state) cannot be made")
        }
        fresh = try bench.row(protection, flags)
        self.vault = vault
        self.passcode = passcode
        self.fingers = fingers
    }

    /// Returns the refusal for a new row of the same kind; nil if it is sealed.
    func adding() -> Refusal? { refusal { _ = try vault.sealWith(password, fresh) } }

    /// Returns the outcome of reading the earlier row. A prompt counts only if the answer then opens the row.
    func reading() throws -> Reading {
        guard let sealed else { return .noRow }
        do throws(Refusal) {
            switch try vault.open(sealed.row, wrapped: sealed.wrapped) {
            case .opened(let key):
                #expect(bytes(key) == sealed.key)
                return .opens
            case .layered(let opening): return try answer(opening, sealed)
            }
        } catch {
            return .refused(error)
        }
    }

    private func answer(_ opening: PendingOpening, _ sealed: SealedRow) throws(Refusal) -> Reading {
        let requirement = try vault.checkSatisfiable(opening)
        switch vault.evaluate(requirement, for: sealed.row.protection, Evidence()) {
        case .refuse(let reason): throw Refusal(reason)
        case .allow:
            #expect(opens(opening, sealed, byPasscode: false, byFinger: false))
            return .opens
        case .prompt(let methods):
            // Exactly the requested evidence opens it, and nothing less.
            #expect(!opens(opening, sealed, byPasscode: false, byFinger: false))
            if methods == .passcode {
                #expect(opens(opening, sealed, byPasscode: true, byFinger: false))
                return .asks("passcode")
            }
            let byFinger = opens(opening, sealed, byPasscode: false, byFinger: true)
            let byPasscode = opens(opening, sealed, byPasscode: true, byFinger: false)
            if methods == .finger {
                #expect(byFinger && !byPasscode)
                return .asks("finger")
            }
            #expect(byFinger == byPasscode && opens(opening, sealed, byPasscode: true, byFinger: true))
            return .asks(byFinger ? "either" : "both")
        }
    }

    private func opens(_ opening: PendingOpening, _ sealed: SealedRow, byPasscode: Bool, byFinger: Bool) -> Bool {
        do {
            let shown = if byPasscode, let passcode { try vault.gather(passcode) } else { OperationEvidence() }
            if byFinger { shown.evidence.finger = try vault.acceptFingerMatch(fingers: fingers) }
            #expect(
                password == nil
                    || refusal { _ = try vault.finishWith("another", opening, evidence: shown) }?.reason == .authenticationFailed)
            return try vault.finishWith(password, opening, evidence: shown) == sealed.key
        } catch {
            return false
        }
    }
}
