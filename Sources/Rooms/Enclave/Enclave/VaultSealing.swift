// Item keys: made and wrapped for a row, and wrapped anew for a newer class key.

package import EnclaveWire
internal import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

extension Vault {
    /// Makes an item key for a row. Needs the row's class to be open, and no user, whatever the access control; the
    /// application's password only where the control has that flag.
    package func seal(
        _ row: RowBinding, password: borrowing SecretBytes? = nil, for requester: DerivationRequester = .patient
    ) throws(Refusal) -> SealedItemKey {
        let rowBytes = try Self.encoded(row)
        let itemBytes = try Self.encoded(row.ofItem)
        let control = row.accessControl
        if let control, control.requirement(for: .encrypt) == nil {
            throw Refusal(.badParameter, "an access control for private keys cannot protect an item")
        }
        let requirement = control?.requirementToDecrypt ?? Requirement.none
        if let control { try throwIfNeverMet(requirement, of: control) }
        if control?.needsApplicationPassword == true { try throwIfClosed(row.protection, of: row.user) }
        // Stretched before the vault is entered: a password takes its quarter of a second on its own time.
        let layer = control?.needsApplicationPassword == true ? try newPasswordLayer(password, for: requester) : nil
        return try state.withLock { (state) throws(Refusal) -> SealedItemKey in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            guard row.user == user else { throw Refusal(.badParameter, "the row is another user's") }
            guard let current = bag.current(.protection(row.protection)) else {
                throw Refusal(.passcodeNotSet, "this accessibility needs a passcode; run: vauban passcode set")
            }
            guard let classKey = ring.key(.protection(row.protection), generation: current.generation) else { throw Self.closed(ring) }
            guard current.generation == row.generation else { throw Refusal(.keysChanged) }
            let key = try Keybag.randomKey()
            let wrapped = try bag.wrapped(key, requirement, layer, under: classKey, row: rowBytes, item: itemBytes)
            return SealedItemKey(wrapped: wrapped, key: key)
        }
    }

    /// Refuses what nobody could ever satisfy here.
    func throwIfNeverMet(_ requirement: Requirement, of control: AccessControl) throws(Refusal) {
        if control.flags.contains(.biometryCurrentSet), !host.tellsFingerSets {
            throw Refusal(.unsupported, "in user mode the present set of fingers cannot be told from another; any finger can be asked for")
        }
        guard !requirement.openWays.isEmpty else {
            throw Refusal(.unsupported, "this access control needs a companion device, which Vauban does not know")
        }
    }

    /// The same item key under another generation of its class, sealed to the current pairs: what lies under a class key is sealed to
    /// pairs that were current when that was, or to newer ones. No key is shown. Where it names an older pair it takes a passcode of a
    /// moment ago (`ResealingKeys`), and is refused without one; else no user is needed.
    package func rewrap(_ row: RowBinding, wrapped: [UInt8], to generation: [UInt8]) throws(Refusal) -> [UInt8] {
        guard row.format == .generationApart else {
            throw Refusal(.badParameter, "a row of the first format is bound to its generation; write it anew")
        }
        let oldBytes = try Self.encoded(row)
        let newBytes = try Self.encoded(row.with(generation: generation))
        let boundBytes = try Self.encoded(row.ofItem)
        return try state.withLock { (state) throws(Refusal) -> [UInt8] in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            guard row.user == user else { throw Refusal(.badParameter, "the row is another user's") }
            let purpose = KeyPurpose.protection(row.protection)
            guard bag.current(purpose)?.generation == generation else { throw Refusal(.keysChanged) }
            let oldKey = try bag.classKey(of: row, in: ring)
            guard let newKey = ring.key(purpose, generation: generation) else { throw Self.closed(ring) }
            let item: WrappedItemKey
            let inner: SecretBytes
            do {
                item = try WrappedItemKey(derBytes: wrapped)
                inner = try item.open(under: oldKey, row: oldBytes)
            } catch {
                throw Refusal(.rowDamaged)
            }
            guard let resealed = try state.resealed(inner, item.kind, bound: boundBytes, bag, host) else {
                return try Self.encoded(try WrappedItemKey(inner, item.kind, under: newKey, row: newBytes))
            }
            let layers = SecretBytes(copying: try Self.encoded(resealed))
            return try Self.encoded(try WrappedItemKey(layers, .layered, under: newKey, row: newBytes))
        }
    }

    // MARK: The application's password

    /// Spares the derivation where its result could not be used.
    func throwIfClosed(_ protection: Protection, of owner: UInt32) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            guard owner == user else { throw Refusal(.badParameter, "the row is another user's") }
            guard let current = bag.current(.protection(protection)) else { return }
            if ring.key(.protection(protection), generation: current.generation) == nil { throw Self.closed(ring) }
        }
    }

    func newPasswordLayer(_ password: borrowing SecretBytes?, for requester: DerivationRequester) throws(Refusal) -> PasswordLayer {
        try Self.throwIfUnfit(password)
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester)
        return PasswordLayer(parameters: parameters, key: try stretchApplicationPassword(password, parameters, place, for: requester))
    }

    func stretchApplicationPassword(
        _ password: borrowing SecretBytes?, _ parameters: StretchParameters, _ place: DerivationOrder.Place,
        for requester: DerivationRequester
    ) throws(Refusal) -> SecretBytes {
        switch password {
        case .none: throw Refusal(.applicationPasswordMissing)
        case .some(let password): return try stretch(password, parameters, place, for: requester)
        }
    }

    /// Refuses before anything is waited for what no password of an application can be.
    static func throwIfUnfit(_ password: borrowing SecretBytes?) throws(Refusal) {
        switch password {
        case .none: throw Refusal(.applicationPasswordMissing)
        case .some(let password):
            guard !password.isEmpty else { throw Refusal(.applicationPasswordMissing) }
            guard password.count <= EnclaveLimits.applicationPasswordBytesMax else {
                throw Refusal(.badParameter, "the application's password is too long")
            }
        }
    }

    // MARK: -

    static func closed(_ ring: KeyRing) -> Refusal { Refusal(ring.lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked) }

    static func encoded(_ value: some DERWritable) throws(Refusal) -> [UInt8] {
        do { return try value.encoded() } catch { throw Refusal(.internalFault, "a value cannot be encoded") }
    }
}

/// The key that an application's password gives for one item.
final class PasswordLayer {
    let parameters: StretchParameters
    let key: SecretBytes

    init(parameters: StretchParameters, key: consuming SecretBytes) {
        self.parameters = parameters
        self.key = key
    }
}

extension LayeredItemKey {
    /// Everything that a control asks for, around an item key.
    fileprivate init(_ key: borrowing SecretBytes, under layer: PasswordLayer?, ways: [[KeySlot]], row: [UInt8]) throws(WrapError) {
        guard let layer else {
            self = try LayeredItemKey(key, to: ways, password: nil, row: row)
            return
        }
        let inner = SecretBytes(copying: try Self.wrap(key, underPassword: layer.key, row: row))
        self = try LayeredItemKey(inner, to: ways, password: layer.parameters, row: row)
    }
}

extension Keybag {
    /// A key under everything that is asked for it. `row` is what the outermost layer is bound to, `item` what the others are.
    func wrapped(
        _ key: borrowing SecretBytes, _ requirement: Requirement, _ layer: PasswordLayer?, under outer: HeldKey, row: [UInt8],
        item: [UInt8],
        isPrivateKey: Bool = false
    ) throws(Refusal) -> [UInt8] {
        if requirement.isNone, layer == nil { return try Vault.encoded(try WrappedItemKey(key, .plain, under: outer, row: row)) }
        let ways = requirement.isNone ? [[]] : try pairs(for: requirement) { isPrivateKey ? pairForPrivateKeys($0) : current($0) }
        let layered: LayeredItemKey
        do throws(WrapError) {
            layered = try LayeredItemKey(key, under: layer, ways: ways, row: item)
        } catch {
            throw Refusal(.internalFault, "a key cannot be sealed")
        }
        let inner = SecretBytes(copying: try Vault.encoded(layered))
        return try Vault.encoded(try WrappedItemKey(inner, .layered, under: outer, row: row))
    }

    /// The pairs of every way that is open here.
    fileprivate func pairs(for requirement: Requirement, _ pair: (KeyPurpose) -> KeySlot?) throws(Refusal) -> [[KeySlot]] {
        var ways: [[KeySlot]] = []
        for way in requirement.openWays {
            var pairs: [KeySlot] = []
            for factor in way {
                guard let purpose = KeyPurpose(factor), let slot = pair(purpose) else { break }
                pairs.append(slot)
            }
            if pairs.count == way.count { ways.append(pairs) }
        }
        // Only the pair of an enrollment may be missing: then there are no fingers to bind to.
        guard !ways.isEmpty else { throw Refusal(.biometryNotEnrolled) }
        return ways
    }

    /// The class key of a row, open now; says whether it is closed, gone, or was never here.
    func classKey(of row: RowBinding, in ring: KeyRing) throws(Refusal) -> HeldKey {
        let purpose = KeyPurpose.protection(row.protection)
        switch fate(of: KeyName(purpose: purpose.number, generation: row.generation)) {
        case .destroyed: throw Refusal(.keyDestroyed)
        case .unknown: throw Refusal(.keyUnknown)
        case .current, .older:
            guard let key = ring.key(purpose, generation: row.generation) else { throw Vault.closed(ring) }
            return key
        }
    }
}
