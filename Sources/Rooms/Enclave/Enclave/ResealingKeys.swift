// Reseals what is sealed to the factor pair of an earlier passcode to the current pair, so that the keybag can drop the earlier one
// (Specs/key-hierarchy.md, section 4).

import EnclaveWire
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes

/// The private halves of older pairs. They are in memory for a limited time after a passcode, and only while rows are wrapped by older
/// class keys. They cannot open what is sealed to the current pairs.
struct ResealingKeys: Sendable {
    let keys: [HeldKey]
    /// When the passcode was entered, in nanoseconds of the boot-time clock.
    let at: UInt64
}

extension VaultState {
    /// Loads the older pairs after a correct passcode, if the device is unlocked.
    mutating func loadResealingKeys(with passcodeKey: borrowing SecretBytes, _ host: EnclaveHost) throws(Refusal) {
        resealing = nil
        guard case .unlocked = ring, let keybag, keybag.hasOlderClassKeys else { return }
        var keys: [HeldKey] = []
        for slot in keybag.olderPairs where slot.wrapping == .passcodeAndDevice {
            keys.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: try keybag.open(slot, with: passcodeKey)))
        }
        if !keys.isEmpty { resealing = ResealingKeys(keys: keys, at: host.clock.boot) }
    }

    /// Discards the private halves of pairs that are no longer in the keybag.
    mutating func discardRemovedPairs() {
        guard let keybag else { return }
        if !keybag.hasOlderClassKeys { resealing = nil }
        armed = armed.map { armed in FingerprintFactors(keys: armed.keys.filter { keybag.factorSlot($0.generation) != nil }, at: armed.at) }
    }

    /// Returns the content of a row's wrapping, sealed to the current pairs; nil if it uses no older pair.
    func resealed(
        _ inner: borrowing SecretBytes, kind: WrappedItemKey.Kind, bound: [UInt8], bag: Keybag, host: EnclaveHost
    ) throws(Refusal) -> LayeredItemKey? {
        guard kind != .plain else { return nil }
        let layered: LayeredItemKey
        do { layered = try LayeredItemKey(inner, kind) } catch { throw Refusal(.rowDamaged) }
        var isChanged = false
        var methods: [LayeredItemKey.Method] = []
        for method in layered.methods {
            let resealed = try resealed(method, bound: bound, bag: bag, host: host)
            isChanged = isChanged || resealed != nil
            methods.append(resealed ?? method)
        }
        return isChanged ? LayeredItemKey(methods: methods, password: layered.password) : nil
    }

    /// Reseals one method to the current pairs of the same purposes. If one of its pairs no longer exists, such as that of an ended
    /// enrollment, the method can never be satisfied again and stays unchanged.
    private func resealed(_ method: LayeredItemKey.Method, bound: [UInt8], bag: Keybag, host: EnclaveHost) throws(Refusal)
        -> LayeredItemKey
        .Method?
    {
        let pairs = method.seals.compactMap { bag.factorSlot($0.pair) }
        guard pairs.count == method.seals.count, pairs.contains(where: bag.isOlder) else { return nil }
        var halves: [HeldKey] = []
        for pair in pairs { halves.append(try privateHalf(of: pair, bag, host)) }
        do throws(WrapError) {
            let content = try LayeredItemKey.open(method, row: bound) { (seal, content) throws(WrapError) in
                guard let half = halves.first(where: { $0.generation == seal.pair }) else { throw WrapError() }
                return try FactorSeal.open(content, encapsulated: seal.encapsulated, with: half.key, row: bound)
            }
            return try LayeredItemKey.method(content, to: pairs.compactMap { bag.current($0.purpose) }, bound)
        } catch {
            throw Refusal(.rowDamaged)
        }
    }

    /// Returns a private half: opened by the device if there is no passcode, otherwise kept from a recent passcode.
    private func privateHalf(of pair: KeySlot, _ bag: Keybag, _ host: EnclaveHost) throws(Refusal) -> HeldKey {
        if let held = resealing?.keys.first(where: { $0.generation == pair.generation }) { return held }
        guard pair.wrapping == .device else {
            throw Refusal(
                .interactionNotAllowed,
                "The item is sealed to keys of an earlier passcode; it is resealed after the next unlock")
        }
        return HeldKey(purpose: pair.purpose, generation: pair.generation, key: try bag.open(pair, with: try bag.deviceKey(host.backend)))
    }
}

extension Keybag {
    func isOlder(_ pair: KeySlot) -> Bool { current(pair.purpose) != pair }

    /// The factor pairs to which nothing new is sealed, except private keys.
    var olderPairs: [KeySlot] { slots.filter { KeyPurpose.factors.contains($0.purpose) && isOlder($0) } }

    /// Removes the older pairs that no row needs. A row is sealed to pairs that were current while its class key was, or to newer ones
    /// (`rewrap`). So without an older class key, no row is sealed to an older pair.
    mutating func removeUnneededPairs() {
        guard !hasOlderClassKeys else { return }
        let unneeded = olderPairs.filter { !$0.holdsPrivateKeys }
        slots.removeAll { unneeded.contains($0) }
    }

    // MARK: Pairs of private keys

    /// Returns the pair to which a private key is sealed: the newest marked one, or that of the enrollment.
    func pairForPrivateKeys(_ purpose: KeyPurpose) -> KeySlot? {
        purpose == .enrollmentFactor ? current(purpose) : slots.first { $0.purpose == purpose && $0.holdsPrivateKeys }
    }

    /// Marks the current pairs before a private key is sealed to them, unless too many are marked already.
    mutating func markPairsForPrivateKeys(of requirement: Requirement) {
        let purposes = Set(requirement.satisfiableMethods.flatMap { $0 }.compactMap { KeyPurpose($0) }).intersection(KeyPurpose.factors)
        for purpose in purposes
        where slots.count(where: { $0.purpose == purpose && $0.holdsPrivateKeys }) < EnclaveLimits.keyFactorGenerationsMax {
            guard let index = slots.firstIndex(where: { $0.purpose == purpose }) else { continue }
            slots[index].holdsPrivateKeys = true
        }
    }
}
