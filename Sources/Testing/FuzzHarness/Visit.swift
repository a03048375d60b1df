import Enclave
import EnclaveWire
import FuzzFinding
import VaubanAccessPolicy
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

/// A row as it was sealed, with the key that it must return.
struct KnownRow {
    let row: RowBinding
    let wrapped: [UInt8]
    let key: [UInt8]
}

/// A check of one enclave over unknown state: tries everything that creates no new key, and compares the results with the known rows.
final class Visit {
    private let machine: FuzzMachine
    /// The number of keys that were returned, including leased ones.
    private(set) var opened = 0

    init(_ machine: FuzzMachine) { self.machine = machine }

    func check(_ rows: [KnownRow]) throws {
        let vault = machine.start()
        try inspect(vault, rows, passcodeKey: nil)
        try guess(vault)
        // Each start begins the delay again; after it, the correct passcode is accepted if there is one.
        machine.clock.advance(seconds: 7200)
        if hasCheapDerivation, let key = try refusing({ HeldSecret(try vault.authenticate(SecretBytes(copying: FuzzMachine.passcode))) }) {
            try inspect(vault, rows, passcodeKey: key)
            _ = try refusing { try vault.unlock(SecretBytes(copying: FuzzMachine.passcode)) }
            try inspect(vault, rows, passcodeKey: key)
            _ = try refusing { try vault.lock() }
            try inspect(vault, rows, passcodeKey: key)
        }
        // A restart reads the state that this enclave wrote.
        try inspect(machine.start(), rows, passcodeKey: nil)
    }

    // MARK: Promises

    private func inspect(_ vault: Vault, _ rows: [KnownRow], passcodeKey: HeldSecret?) throws {
        let status = vault.status
        try require((try? DeviceStatus(derBytes: status.encoded())) == status, "a status cannot be encoded")
        try require(status.lock != .unreadable || !status.warnings.isEmpty, "state is unreadable, and nobody is told why")
        if case .some(let leased) = try refusing({ try vault.lease() }) { try check(leased) }
        for known in rows {
            let isClosed = known.row.protection.refusal(while: vault.status.lock) != nil
            guard case .some(let opening) = try refusing({ try vault.open(known.row, wrapped: known.wrapped) }) else { continue }
            try require(!isClosed, "a closed class was opened")
            var isGiven = true
            defer { if isGiven { opened += 1 } }
            switch opening {
            case .opened(let key):
                try require(key.withUnsafeBytes { Array($0) } == known.key, "a key came out that was not put in")
                try require(known.row.accessControl == nil, "an access control was passed over")
            case .layered(let layered):
                let gathered = OperationEvidence()
                if let passcodeKey {
                    gathered.evidence.passcode = machine.clock.boot
                    gathered.passcodeKey = passcodeKey.secret.duplicate()
                }
                guard case .some(let key) = try refusing({ try vault.finish(layered, gathered, password: nil) }) else {
                    isGiven = false
                    continue
                }
                try require(key.withUnsafeBytes { Array($0) } == known.key, "a key came out that was not put in")
                try require(gathered.passcodeKey != nil, "an item for the user opened without one")
            }
        }
    }

    private func check(_ leased: borrowing LeasedKeys) throws {
        let keys = leased.keys.withUnsafeBytes { Array($0) }
        try require(keys.count == leased.lease.keys.count * KeyLease.keyBytes, "a lease has another number of keys")
        for (index, key) in leased.lease.keys.enumerated() {
            let purpose: KeyPurpose =
                switch key.purpose {
                case .metadata(let protection): .protection(protection)
                case .firstUnlockIndex: .firstUnlockIndex
                case .deviceIndex: .deviceIndex
                }
            try require(KnownState.isKnown(key.generation, of: purpose), "a key was leased that was not put in")
            let root = KnownState.key(purpose, key.generation)
            let expected =
                if case .protection = purpose { KeyWrap.derive(from: root, label: "vauban metadata key v1") } else { root.duplicate() }
            let bytes = Array(keys[index * KeyLease.keyBytes..<(index + 1) * KeyLease.keyBytes])
            try require(expected.withUnsafeBytes { Array($0) } == bytes, "a leased key is not what was put in")
            opened += 1
            if case .protection(let protection) = purpose {
                try require(protection.refusal(while: leased.lease.lock) == nil, "a key of a locked class was leased")
            }
        }
    }

    /// Verifies that a wrong passcode costs an attempt and is never accepted.
    private func guess(_ vault: Vault) throws {
        guard hasCheapDerivation else { return }
        let before = failures
        do {
            _ = try vault.authenticate(SecretBytes(copying: Array("wrong passcode".utf8)))
            throw Finding("a wrong passcode was right")
        } catch let refusal as Refusal {
            try check(refusal)
            // Counts of ten and more are equivalent, and the count stops at a million.
            let isCounted = (failures ?? 0) > (before ?? 0) || before ?? 0 >= 1_000_000
            try require(refusal.reason != .authenticationFailed || isCounted, "a guess was free")
        }
    }

    private var failures: Int64? {
        guard let file = machine.store.files[StateName.attempts.rawValue],
            let content = try? StateEnvelope.open(file, name: .attempts, user: FuzzMachine.user, backend: FuzzDevice()),
            let record = try? AttemptRecord(derBytes: content), record.keybag == KnownState.identifier
        else { return nil }
        return record.failures
    }

    /// Whether the keybag's derivation is cheap enough for a fuzzer. The ranges of the parameters and the available memory limit the cost
    /// of a real one.
    private var hasCheapDerivation: Bool {
        guard let file = machine.store.files[StateName.keybag.rawValue],
            let content = try? StateEnvelope.open(file, name: .keybag, user: FuzzMachine.user, backend: FuzzDevice()),
            let bag = try? Keybag(derBytes: content), let cost = bag.passcode
        else { return false }
        return cost.log2Rounds <= 6 && cost.blockSize <= 4 && cost.parallelism <= 2
    }

    /// Returns nil for a refusal, which is a valid answer. Verifies that the refusal can be encoded, is no internal error, and has a
    /// message if state is unreadable.
    private func refusing<Value: ~Copyable>(_ step: () throws -> Value) throws -> Value? {
        do {
            return try step()
        } catch let refusal as Refusal {
            try check(refusal)
            return nil
        }
    }

    private func check(_ refusal: Refusal) throws {
        try require((try? Refusal(derBytes: refusal.encoded())) == refusal, "a refusal cannot be encoded")
        try require(refusal.reason != .internalError, "an internal error: \(refusal.detail ?? "")")
        if refusal.reason == .stateUnreadable { try require(refusal.detail?.isEmpty == false, "a refusal without a message") }
    }
}
