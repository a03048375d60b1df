// Item keys given back: first what the device's state allows, then what the user shows, then the application's
// password.

package import EnclaveWire
package import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanUserModel

/// What a row needs before its key is given.
package enum RowOpening: ~Copyable {
    case opened(SecretBytes)
    /// Its class is open; what is missing comes from the user or the application.
    case layered(PendingOpening)
}

/// A row whose class is open, on its way to the user.
package struct PendingOpening: Sendable {
    /// What is opened.
    enum Subject: Sendable {
        case row(RowBinding)
        case key(EnclaveKey, KeyOperation)
    }

    let layered: LayeredItemKey
    let subject: Subject
    /// What the seals are bound to.
    let bound: [UInt8]

    package var requirement: Requirement {
        switch subject {
        case .row(let row): row.accessControl?.requirementToDecrypt ?? Requirement.none
        case .key(let key, let operation): key.control.requirement(for: operation.itemOperation) ?? Requirement(ways: [])
        }
    }

    package var protection: Protection {
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

/// What was shown for one operation, with the key that a passcode gave. It ends with the operation.
package final class OperationEvidence {
    package var evidence = Evidence()
    package var passcodeKey: SecretBytes?
    /// The private halves that an earlier passcode of the same context gave, in the place of its key.
    var factorKeys: [HeldKey] = []
    /// Where some of it was shown for an earlier call: when, and of which passcode.
    var earlier: Earlier?
    /// What the user chose, where they were asked for consent.
    package var consent: ConsentChoice?

    struct Earlier {
        let epoch: Int64
        let passcode: StretchParameters?
    }

    package init() {}

    func holds(_ slot: KeySlot) -> Bool { factorKeys.contains { $0.purpose == slot.purpose && $0.generation == slot.generation } }
}

extension Vault {
    /// Opens a row as far as the device's state allows.
    package func open(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> RowOpening {
        let rowBytes = try Self.encoded(row)
        let bound = try Self.encoded(row.ofItem)
        let item = try? WrappedItemKey(derBytes: wrapped)
        return try state.withLock { (state) throws(Refusal) -> RowOpening in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            guard row.user == user else { throw Refusal(.badParameter, "the row is another user's") }
            let classKey = try bag.classKey(of: row, in: ring)
            return try RowOpening(item, under: classKey, bytes: rowBytes, of: .row(row), bound: bound)
        }
    }

    /// Refuses at once what nothing shown could open: fingers that are not those of the item. Answers what is left of its
    /// requirement, so that nobody is asked for what leads nowhere.
    @discardableResult
    package func checkSatisfiable(_ opening: PendingOpening) throws(Refusal) -> Requirement {
        try state.withLock { (state) throws(Refusal) -> Requirement in
            let (bag, _) = try state.created(user: user, host: host)
            return try bag.living(opening)
        }
    }

    /// Finishes with what was shown. The class must still be open: a lock while the user was asked wins.
    package func finish(
        _ opening: PendingOpening, _ gathered: OperationEvidence, password: borrowing SecretBytes?,
        for requester: DerivationRequester = .patient
    ) throws(Refusal) -> SecretBytes {
        let layer = try passwordLayer(of: opening, password, for: requester)
        return try state.withLock { (state) throws(Refusal) -> SecretBytes in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            switch opening.subject {
            case .row(let row): _ = try bag.classKey(of: row, in: ring)
            case .key(let key, _): try bag.throwIfClosed(key, in: ring)
            }
            // Right when it was given, but of an earlier passcode now: nothing is damaged.
            switch gathered.passcodeKey {
            case .some(let key): try bag.throwIfChanged(since: key)
            case .none: break
            }
            try state.throwIfOver(gathered.earlier)
            let judgment = try bag.living(opening).judge(
                gathered.evidence, for: opening.protection, in: state.circumstances(host), now: host.clock.boot)
            switch judgment {
            case .allow: break
            case .refuse(let reason): throw Refusal(reason)
            case .ask: throw Refusal(.authenticationFailed)
            }
            let inner = try state.openWay(of: opening, gathered, bag)
            guard let layer else { return inner }
            do throws(WrapError) {
                return try LayeredItemKey.unwrap(inner, withPassword: layer.key, row: opening.bound)
            } catch {
                throw Refusal(.authenticationFailed, "the application's password is wrong")
            }
        }
    }

    private func passwordLayer(
        of opening: PendingOpening, _ password: borrowing SecretBytes?, for requester: DerivationRequester
    ) throws(Refusal) -> PasswordLayer? {
        guard let parameters = opening.layered.password else { return nil }
        try Self.throwIfUnfit(password)
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        return PasswordLayer(parameters: parameters, key: try stretchApplicationPassword(password, parameters, place, for: requester))
    }
}

extension RowOpening {
    /// Takes the outermost layer off. The lock of the vault is held meanwhile, since whoever locks may rely on it that nobody has a class
    /// key any more; so what needs no key is done before. An `item` that could not be read, nil, is damaged only where its class is open.
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

    /// `FactorSeal`, as rows of the first form have it.
    private struct FactorSealV1: DERReadable {
        let key: LayeredItemKey
        init(from fields: inout DERFields) throws { key = try LayeredItemKey(firstForm: &fields) }
    }
}

extension VaultState {
    /// What was shown for an earlier call counts no more after a lock or another passcode, also while something else is asked for.
    func throwIfOver(_ earlier: OperationEvidence.Earlier?) throws(Refusal) {
        guard let earlier else { return }
        guard earlier.epoch == epoch, earlier.passcode == nil || earlier.passcode == keybag?.passcode else {
            throw Refusal(.cancelled, "the keychain was locked or changed meanwhile")
        }
    }

    /// The first way that what was shown opens.
    fileprivate func openWay(of opening: PendingOpening, _ gathered: OperationEvidence, _ bag: Keybag) throws(Refusal) -> SecretBytes {
        var isDamaged = false
        for way in opening.layered.ways {
            let slots = way.seals.map { bag.factorSlot($0.pair) }
            guard slots.allSatisfy({ $0.map { mayOpen($0, gathered, bag) } ?? false }) else { continue }
            do throws(WrapError) {
                return try LayeredItemKey.open(way, row: opening.bound) { (seal, content) throws(WrapError) in
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

    /// Whether policy lets what was shown use a pair. A passcode's key opens every pair; policy does not let it stand for
    /// a finger.
    private func mayOpen(_ slot: KeySlot, _ gathered: OperationEvidence, _ bag: Keybag) -> Bool {
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
    /// The ways of a row's control whose pairs are all there. A way is missing where an enrollment ended, or where none had
    /// begun when the row was made.
    fileprivate func living(_ opening: PendingOpening) throws(Refusal) -> Requirement {
        let sealed = opening.layered.ways.map { way in way.seals.map { factorSlot($0.pair)?.purpose } }
        let ways = opening.requirement.openWays.filter { sealed.contains($0.map { KeyPurpose($0) }) }
        guard !ways.isEmpty else { throw Refusal(.biometryNotEnrolled, "the enrolled fingers are not those that the item was made for") }
        return Requirement(ways: ways)
    }

    func factorSlot(_ pair: [UInt8]) -> KeySlot? { slots.first { $0.purpose.isFactor && $0.generation == pair } }
}
