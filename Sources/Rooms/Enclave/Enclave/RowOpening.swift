// Releases item keys: the device's state decides first, then the user's evidence, then the application password.

package import EnclaveWire
package import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

/// The state of a row whose key is requested: opened, or in need of evidence.
package enum RowOpening: ~Copyable {
    case opened(SecretBytes)
    /// The class is unlocked. The user or the application must provide what is missing.
    case layered(PendingOpening)
}

/// A row whose class is unlocked and whose access control is not satisfied yet.
package struct PendingOpening: Sendable {
    /// The object that is being opened.
    enum Subject: Sendable {
        case row(RowBinding)
        case key(EnclaveKey, KeyOperation)
    }

    let layered: LayeredItemKey
    let subject: Subject
    /// The bytes that the seals are bound to.
    let bound: [UInt8]

    package var requirement: Requirement {
        switch subject {
        case .row(let row): row.accessControl?.requirementToDecrypt ?? Requirement.none
        case .key(let key, let operation): key.control.requirement(for: operation.itemOperation) ?? Requirement(methods: [])
        }
    }

    package var protection: ProtectionClass {
        switch subject {
        case .row(let row): row.protection
        case .key(let key, _): key.control.protection
        }
    }

    /// The identity of the item or the key.
    package var item: [UInt8] {
        switch subject {
        case .row(let row): row.item
        case .key(let key, _): key.identifier
        }
    }

    package var needsPassword: Bool { layered.password != nil }
}

/// The evidence for one operation, with the key from a passcode. It is erased with the operation.
package final class OperationEvidence {
    package var evidence = Evidence()
    package var passcodeKey: SecretBytes?
    /// The locks until the passcode was entered; nil if it was not.
    package var passcodeEntered: LockMark?
    /// The private halves from an earlier passcode of the same context, used instead of its key.
    var factorKeys: [HeldKey] = []
    /// When, and under which passcode, earlier evidence was presented; nil if there is none.
    var earlier: Earlier?
    /// The user's choice, if they were prompted for consent.
    package var consent: ConsentChoice?

    struct Earlier {
        let epoch: Int64
        let passcode: StretchParameters?
    }

    package init() {}

    /// Whether the user entered the passcode for this operation and not earlier.
    package var hasPasscode: Bool {
        switch passcodeKey {
        case .some: true
        case .none: false
        }
    }

    func holds(_ slot: KeySlot) -> Bool { factorKeys.contains { $0.purpose == slot.purpose && $0.generation == slot.generation } }
}

extension Vault {
    /// Opens a row as far as the device's state allows.
    package func open(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> RowOpening {
        let rowBytes = try Self.encoded(row)
        let bound = try Self.encoded(row.itemBinding)
        let item = try? WrappedItemKey(derBytes: wrapped)
        return try state.withLock { (state) throws(Refusal) -> RowOpening in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard row.user == user else { throw Refusal(.badParameter, "The row belongs to another user") }
            let classKey = try bag.classKey(of: row, in: ring)
            return try RowOpening(item, under: classKey, bytes: rowBytes, of: .row(row), bound: bound)
        }
    }

    /// Throws at once if no evidence could open the row, for example because the enrolled fingers are not those of the item. Returns the
    /// requirement that can still be satisfied, so that no prompt is in vain.
    @discardableResult
    package func checkSatisfiable(_ opening: PendingOpening) throws(Refusal) -> Requirement {
        try state.withLock { (state) throws(Refusal) -> Requirement in
            let (bag, _) = try state.createIfNeeded(host)
            return try bag.satisfiableRequirement(of: opening)
        }
    }

    /// Completes an opening with the evidence. The class must still be unlocked: a lock during the prompt takes precedence.
    package func finish(
        _ opening: PendingOpening, _ gathered: OperationEvidence, password: borrowing SecretBytes?,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) -> SecretBytes {
        let layer = try passwordLayer(of: opening, password, for: requester)
        return try state.withLock { (state) throws(Refusal) -> SecretBytes in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            switch opening.subject {
            case .row(let row): _ = try bag.classKey(of: row, in: ring)
            case .key(let key, _): try bag.checkClassIsOpen(key, in: ring)
            }
            // The passcode was correct but has been changed since; the row is not damaged.
            switch gathered.passcodeKey {
            case .some(let key): try bag.checkPasscodeUnchanged(since: key)
            case .none: break
            }
            try state.checkCurrent(gathered.earlier)
            let decision = try bag.satisfiableRequirement(of: opening).decision(
                on: gathered.evidence, for: opening.protection, in: state.conditions(host), now: host.clock.boot)
            switch decision {
            case .allow: break
            case .refuse(let reason): throw Refusal(reason)
            case .prompt: throw Refusal(.authenticationFailed)
            }
            let inner = try state.openMethod(of: opening, gathered, bag)
            guard let layer else { return inner }
            do throws(WrapError) {
                return try LayeredItemKey.unwrap(inner, withPassword: layer.key, row: opening.bound)
            } catch {
                throw Refusal(.authenticationFailed, "the application password is wrong")
            }
        }
    }

    private func passwordLayer(
        of opening: PendingOpening, _ password: borrowing SecretBytes?, for requester: DerivationRequester
    ) throws(Refusal) -> PasswordLayer? {
        guard let parameters = opening.layered.password else { return nil }
        try Self.checkApplicationPassword(password)
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        return PasswordLayer(
            parameters: parameters, key: try stretchApplicationPassword(password, parameters: parameters, place: place, for: requester))
    }
}

extension RowOpening {
    /// Opens the outermost layer. Runs under the vault's lock, since after a lock no thread may still use a class key; work that needs no
    /// key is therefore done before. A nil `item` could not be decoded, and counts as damaged only if its class is unlocked.
    init(_ item: WrappedItemKey?, under outer: HeldKey, bytes: [UInt8], of subject: PendingOpening.Subject, bound: [UInt8]) throws(Refusal)
    {
        guard let item else { throw Refusal(.rowDamaged) }
        let inner: SecretBytes
        do throws(WrapError) { inner = try item.open(under: outer, row: bytes) } catch { throw Refusal(.rowDamaged) }
        if item.kind == .plain {
            self = .opened(inner)
            return
        }
        let layered: LayeredItemKey
        do { layered = try LayeredItemKey(inner, item.kind) } catch { throw Refusal(.rowDamaged) }
        self = .layered(PendingOpening(layered: layered, subject: subject, bound: bound))
    }
}

extension LayeredItemKey {
    init(_ inner: borrowing SecretBytes, _ kind: WrappedItemKey.Kind) throws {
        let bytes = inner.withUnsafeBytes { Array($0) }
        self = kind == .seal ? try FactorSealV1(derBytes: bytes).key : try LayeredItemKey(derBytes: bytes)
    }

    /// `FactorSeal`, as in rows of format version 1.
    private struct FactorSealV1: DERReadable {
        let key: LayeredItemKey
        init(from fields: inout DERFields) throws { key = try LayeredItemKey(firstForm: &fields) }
    }
}

extension VaultState {
    /// Throws if earlier evidence is no longer valid, after a lock or a change of the passcode, even while other evidence is gathered.
    func checkCurrent(_ earlier: OperationEvidence.Earlier?) throws(Refusal) {
        guard let earlier else { return }
        guard earlier.epoch == epoch, earlier.passcode == nil || earlier.passcode == keybag?.passcode else {
            throw Refusal(.cancelled, "the keychain was locked or changed meanwhile")
        }
    }

    /// Opens the first method that the evidence satisfies.
    fileprivate func openMethod(of opening: PendingOpening, _ gathered: OperationEvidence, _ bag: Keybag) throws(Refusal) -> SecretBytes {
        var isDamaged = false
        for method in opening.layered.methods {
            let slots = method.seals.map { bag.factorSlot($0.pair) }
            guard slots.allSatisfy({ $0.map { mayOpen($0, gathered: gathered, bag: bag) } ?? false }) else { continue }
            do throws(WrapError) {
                return try LayeredItemKey.open(method, row: opening.bound) { (seal, content) throws(WrapError) in
                    let key = try privateHalf(of: seal.pair, gathered, bag)
                    return try FactorSeal.open(content, encapsulated: seal.encapsulated, with: key, row: opening.bound)
                }
            } catch {
                isDamaged = true
            }
        }
        throw isDamaged
            ? Refusal(.rowDamaged) : Refusal(.biometryNotEnrolled, "the enrolled fingers are not those that the item was made for")
    }

    /// Returns whether policy allows the evidence to use a pair. The passcode key could open every pair, but policy does not accept it in
    /// place of a fingerprint.
    private func mayOpen(_ slot: KeySlot, gathered: OperationEvidence, bag: Keybag) -> Bool {
        let isMatched =
            gathered.evidence.finger != nil && gathered.evidence.finger?.enrollment == bag.enrollment?.generation && armed != nil
        switch slot.purpose {
        case .passcodeFactor: return gathered.passcodeKey != nil || gathered.holds(slot)
        case .presenceFactor: return gathered.passcodeKey != nil || gathered.holds(slot) || isMatched
        case .biometryFactor, .enrollmentFactor: return isMatched
        default: return false
        }
    }

    private func privateHalf(of pair: [UInt8], _ gathered: OperationEvidence, _ bag: Keybag) throws(WrapError) -> SecretBytes {
        if let held = armed?.keys.first(where: { $0.generation == pair }), gathered.evidence.finger != nil { return held.key.duplicate() }
        if let held = gathered.factorKeys.first(where: { $0.generation == pair }) { return held.key.duplicate() }
        guard let slot = bag.factorSlot(pair) else { throw WrapError() }
        switch gathered.passcodeKey {
        case .some(let key):
            do throws(Refusal) { return try bag.open(slot, with: key) } catch { throw WrapError() }
        case .none: throw WrapError()
        }
    }
}

extension Keybag {
    /// Returns the methods of a row's access control whose pairs all exist. A method is missing if its enrollment ended, or if there was
    /// none when the row was created.
    fileprivate func satisfiableRequirement(of opening: PendingOpening) throws(Refusal) -> Requirement {
        let sealed = opening.layered.methods.map { method in method.seals.map { factorSlot($0.pair)?.purpose } }
        let methods = opening.requirement.satisfiableMethods.filter { sealed.contains($0.map { KeyPurpose($0) }) }
        guard !methods.isEmpty else { throw Refusal(.biometryNotEnrolled, "the enrolled fingers are not those that the item was made for") }
        return Requirement(methods: methods)
    }

    func factorSlot(_ pair: [UInt8]) -> KeySlot? { slots.first { $0.purpose.isFactor && $0.generation == pair } }
}
