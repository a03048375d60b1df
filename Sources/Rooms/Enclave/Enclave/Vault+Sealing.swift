// Item keys: makes and wraps them for a row, and rewraps them for a newer class key.

package import EnclaveWire
internal import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

extension Vault {
    /// Makes an item key for a row. The row's class must be unlocked. Does not prompt, whatever the access control; needs the application
    /// password if the access control has that flag.
    package func seal(
        _ row: RowBinding, password: borrowing SecretBytes? = nil, for requester: DerivationRequester = .unattended
    ) throws(Refusal) -> SealedItemKey {
        let rowBytes = try Self.encoded(row)
        let itemBytes = try Self.encoded(row.itemBinding)
        let control = row.accessControl
        if let control, control.requirement(for: .encrypt) == nil {
            throw Refusal(.badParameter, "An access control for private keys cannot protect an item")
        }
        let requirement = control?.requirementToDecrypt ?? Requirement.none
        if let control { try checkSatisfiable(requirement, of: control) }
        if control?.needsApplicationPassword == true { try checkClassIsOpen(row.protection, of: row.user) }
        // The derivation precedes the vault's lock, since it takes a quarter of a second.
        let layer = control?.needsApplicationPassword == true ? try newPasswordLayer(password, for: requester) : nil
        return try state.withLock { (state) throws(Refusal) -> SealedItemKey in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard row.user == user else { throw Refusal(.badParameter, "The row belongs to another user") }
            guard let current = bag.current(.protection(row.protection)) else {
                throw Refusal(.passcodeNotSet, "this accessibility needs a passcode; run: vauban passcode set")
            }
            guard let classKey = ring.key(.protection(row.protection), generation: current.generation) else { throw Self.closed(ring) }
            guard current.generation == row.generation else { throw Refusal(.keysChanged) }
            let key = try Keybag.randomKey()
            let wrapped = try bag.wrapped(key, requirement: requirement, layer: layer, under: classKey, row: rowBytes, item: itemBytes)
            return SealedItemKey(wrapped: wrapped, key: key)
        }
    }

    /// Throws if the access control can never be satisfied on this machine.
    func checkSatisfiable(_ requirement: Requirement, of control: AccessControl) throws(Refusal) {
        if control.flags.contains(.biometryCurrentSet), !host.distinguishesFingerSets {
            throw Refusal(.unsupported, "In user mode a change of the enrolled fingers cannot be detected; use biometryAny instead")
        }
        guard !requirement.satisfiableMethods.isEmpty else {
            throw Refusal(.unsupported, "This access control needs a companion device, which Vauban does not support")
        }
    }

    /// Wraps the same item key with another generation of its class key, sealed to the current pairs: what a class key wraps is sealed to
    /// pairs that were current when the class key was, or to newer ones. Releases no key. If the row uses an older pair, this needs a
    /// recent passcode (`ResealingKeys`) and is refused without one; otherwise it needs no user.
    package func rewrap(_ row: RowBinding, wrapped: [UInt8], to generation: [UInt8]) throws(Refusal) -> [UInt8] {
        guard row.format == .generationSeparate else {
            throw Refusal(.badParameter, "A row of the first format is bound to its generation; write it anew")
        }
        let oldBytes = try Self.encoded(row)
        let newBytes = try Self.encoded(row.with(generation: generation))
        let boundBytes = try Self.encoded(row.itemBinding)
        return try state.withLock { (state) throws(Refusal) -> [UInt8] in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard row.user == user else { throw Refusal(.badParameter, "The row belongs to another user") }
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
            guard let resealed = try state.resealed(inner, kind: item.kind, bound: boundBytes, bag: bag, host: host) else {
                return try Self.encoded(try WrappedItemKey(inner, item.kind, under: newKey, row: newBytes))
            }
            let layers = SecretBytes(copying: try Self.encoded(resealed))
            return try Self.encoded(try WrappedItemKey(layers, .layered, under: newKey, row: newBytes))
        }
    }

    // MARK: Application password

    /// Throws if the class is locked, to spare a derivation whose result could not be used.
    func checkClassIsOpen(_ protection: ProtectionClass, of owner: UInt32) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard owner == user else { throw Refusal(.badParameter, "The row belongs to another user") }
            guard let current = bag.current(.protection(protection)) else { return }
            if ring.key(.protection(protection), generation: current.generation) == nil { throw Self.closed(ring) }
        }
    }

    func newPasswordLayer(_ password: borrowing SecretBytes?, for requester: DerivationRequester) throws(Refusal) -> PasswordLayer {
        try Self.checkApplicationPassword(password)
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        let parameters = try newParameters(place, for: requester)
        return PasswordLayer(
            parameters: parameters, key: try stretchApplicationPassword(password, parameters: parameters, place: place, for: requester))
    }

    func stretchApplicationPassword(
        _ password: borrowing SecretBytes?, parameters: StretchParameters, place: DerivationOrder.Place,
        for requester: DerivationRequester
    ) throws(Refusal) -> SecretBytes {
        switch password {
        case .none: throw Refusal(.applicationPasswordMissing)
        case .some(let password): return try stretch(password, parameters: parameters, place: place, for: requester)
        }
    }

    /// Throws if the password is missing or cannot be an application password.
    static func checkApplicationPassword(_ password: borrowing SecretBytes?) throws(Refusal) {
        switch password {
        case .none: throw Refusal(.applicationPasswordMissing)
        case .some(let password):
            guard !password.isEmpty else { throw Refusal(.applicationPasswordMissing) }
            guard password.count <= EnclaveLimits.applicationPasswordBytesMax else {
                throw Refusal(.badParameter, "The application password is too long")
            }
        }
    }

    // MARK: -

    static func closed(_ ring: KeyRing) -> Refusal { Refusal(ring.lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked) }

    static func encoded(_ value: some DERWritable) throws(Refusal) -> [UInt8] {
        do { return try value.encoded() } catch { throw Refusal(.internalError, "a value cannot be encoded") }
    }
}

/// The key derived from an application password for one item.
final class PasswordLayer {
    let parameters: StretchParameters
    let key: SecretBytes

    init(parameters: StretchParameters, key: consuming SecretBytes) {
        self.parameters = parameters
        self.key = key
    }
}

extension LayeredItemKey {
    /// Wraps an item key in everything that its access control requires.
    fileprivate init(_ key: borrowing SecretBytes, under layer: PasswordLayer?, methods: [[KeySlot]], row: [UInt8]) throws(WrapError) {
        guard let layer else {
            self = try LayeredItemKey(key, to: methods, password: nil, row: row)
            return
        }
        let inner = SecretBytes(copying: try Self.wrap(key, underPassword: layer.key, row: row))
        self = try LayeredItemKey(inner, to: methods, password: layer.parameters, row: row)
    }
}

extension Keybag {
    /// Wraps a key in everything that its access control requires. `row` is bound to the outermost layer, `item` to the others.
    func wrapped(
        _ key: borrowing SecretBytes, requirement: Requirement, layer: PasswordLayer?, under outer: HeldKey, row: [UInt8],
        item: [UInt8],
        isPrivateKey: Bool = false
    ) throws(Refusal) -> [UInt8] {
        if requirement.isNone, layer == nil { return try Vault.encoded(try WrappedItemKey(key, .plain, under: outer, row: row)) }
        let methods = requirement.isNone ? [[]] : try pairs(for: requirement) { isPrivateKey ? pairForPrivateKeys($0) : current($0) }
        let layered: LayeredItemKey
        do throws(WrapError) {
            layered = try LayeredItemKey(key, under: layer, methods: methods, row: item)
        } catch {
            throw Refusal(.internalError, "a key cannot be sealed")
        }
        let inner = SecretBytes(copying: try Vault.encoded(layered))
        return try Vault.encoded(try WrappedItemKey(inner, .layered, under: outer, row: row))
    }

    /// Returns the pairs of every method that is available here.
    fileprivate func pairs(for requirement: Requirement, _ pair: (KeyPurpose) -> KeySlot?) throws(Refusal) -> [[KeySlot]] {
        var methods: [[KeySlot]] = []
        for method in requirement.satisfiableMethods {
            var pairs: [KeySlot] = []
            for factor in method {
                guard let purpose = KeyPurpose(factor), let slot = pair(purpose) else { break }
                pairs.append(slot)
            }
            if pairs.count == method.count { methods.append(pairs) }
        }
        // Only the pair of an enrollment can be missing, which means that no fingers are enrolled.
        guard !methods.isEmpty else { throw Refusal(.biometryNotEnrolled) }
        return methods
    }

    /// Returns the class key of a row. Throws if the class is locked, or if the key is destroyed or unknown.
    func classKey(of row: RowBinding, in ring: KeyRing) throws(Refusal) -> HeldKey {
        let purpose = KeyPurpose.protection(row.protection)
        switch keyStatus(of: KeyName(purpose: purpose.number, generation: row.generation)) {
        case .destroyed: throw Refusal(.keyDestroyed)
        case .unknown: throw Refusal(.keyUnknown)
        case .current, .older:
            guard let key = ring.key(purpose, generation: row.generation) else { throw Vault.closed(ring) }
            return key
        }
    }
}
