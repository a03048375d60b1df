// What is sealed to a factor pair of an earlier passcode goes to the current one, so that the earlier can leave the keybag
// (Specs/key-hierarchy.md, section 4).

import EnclaveWire
import VaubanAccessPolicy
import VaubanRefusal
import VaubanSecretBytes

/// The private halves of older pairs, in memory for a while after a passcode and only while rows lie under older class keys. What is sealed
/// to the current pairs does not open with them.
struct ResealingKeys: Sendable {
    let keys: [HeldKey]
    /// Boot-time clock of the passcode.
    let at: UInt64
}

extension VaultState {
    /// After a right passcode, while the device is unlocked.
    mutating func takeOlderPairs(with passcodeKey: borrowing SecretBytes, _ host: EnclaveHost) throws(Refusal) {
        resealing = nil
        guard case .unlocked = ring, let keybag, keybag.hasOlderClassKeys else { return }
        var keys: [HeldKey] = []
        for slot in keybag.olderPairs where slot.wrapping == .passcodeAndDevice {
            keys.append(HeldKey(purpose: slot.purpose, generation: slot.generation, key: try keybag.open(slot, with: passcodeKey)))
        }
        if !keys.isEmpty { resealing = ResealingKeys(keys: keys, at: host.clock.boot) }
    }

    /// Forgets the private halves of pairs that have left the keybag.
    mutating func forgetDroppedPairs() {
        guard let keybag else { return }
        if !keybag.hasOlderClassKeys { resealing = nil }
        armed = armed.map { armed in FingerprintFactors(keys: armed.keys.filter { keybag.factorSlot($0.generation) != nil }, at: armed.at) }
    }

    /// What lies inside a row's wrapping, sealed to the current pairs; nil where it names no older one.
    func resealed(
        _ inner: borrowing SecretBytes, _ kind: WrappedItemKey.Kind, bound: [UInt8], _ bag: Keybag, _ host: EnclaveHost
    ) throws(Refusal) -> LayeredItemKey? {
        guard kind != .plain else { return nil }
        let layered: LayeredItemKey
        do { layered = try LayeredItemKey(inner, kind) } catch { throw Refusal(.rowDamaged) }
        var isChanged = false
        var ways: [LayeredItemKey.Way] = []
        for way in layered.ways {
            let resealed = try resealed(way, bound: bound, bag, host)
            isChanged = isChanged || resealed != nil
            ways.append(resealed ?? way)
        }
        return isChanged ? LayeredItemKey(ways: ways, password: layered.password) : nil
    }

    /// One way, to the current pairs of the same purposes. One of which a pair is gone, such as that of an enrollment that ended, is closed
    /// for good and stays so.
    private func resealed(_ way: LayeredItemKey.Way, bound: [UInt8], _ bag: Keybag, _ host: EnclaveHost) throws(Refusal) -> LayeredItemKey
        .Way?
    {
        let pairs = way.seals.compactMap { bag.factorSlot($0.pair) }
        guard pairs.count == way.seals.count, pairs.contains(where: bag.isOlder) else { return nil }
        var halves: [HeldKey] = []
        for pair in pairs { halves.append(try privateHalf(of: pair, bag, host)) }
        do throws(WrapError) {
            let content = try LayeredItemKey.open(way, row: bound) { (seal, content) throws(WrapError) in
                guard let half = halves.first(where: { $0.generation == seal.pair }) else { throw WrapError() }
                return try FactorSeal.open(content, encapsulated: seal.encapsulated, with: half.key, row: bound)
            }
            return try LayeredItemKey.way(content, to: pairs.compactMap { bag.current($0.purpose) }, bound)
        } catch {
            throw Refusal(.rowDamaged)
        }
    }

    /// Without a passcode the device opens it; with one, a passcode of a moment ago.
    private func privateHalf(of pair: KeySlot, _ bag: Keybag, _ host: EnclaveHost) throws(Refusal) -> HeldKey {
        if let held = resealing?.keys.first(where: { $0.generation == pair.generation }) { return held }
        guard pair.wrapping == .device else {
            throw Refusal(
                .interactionNotAllowed,
                "the item is sealed to keys of an earlier passcode; it goes to the present ones after the next unlock")
        }
        return HeldKey(purpose: pair.purpose, generation: pair.generation, key: try bag.open(pair, with: try bag.deviceKey(host.backend)))
    }
}

extension Keybag {
    func isOlder(_ pair: KeySlot) -> Bool { current(pair.purpose) != pair }

    /// The factor pairs that nothing new is sealed to, private keys aside.
    var olderPairs: [KeySlot] { slots.filter { KeyPurpose.factors.contains($0.purpose) && isOlder($0) } }

    /// A row is sealed to pairs that were current while its class key was, or to newer ones (`rewrap`). So where no older class key is
    /// left, no row is sealed to an older pair.
    mutating func dropUnneededPairs() {
        guard !hasOlderClassKeys else { return }
        let unneeded = olderPairs.filter { !$0.holdsPrivateKeys }
        slots.removeAll { unneeded.contains($0) }
    }

    // MARK: Pairs of private keys

    /// The pair to which a private key is sealed: the newest that is marked, and that of the enrollment.
    func pairForPrivateKeys(_ purpose: KeyPurpose) -> KeySlot? {
        purpose == .enrollmentFactor ? current(purpose) : slots.first { $0.purpose == purpose && $0.holdsPrivateKeys }
    }

    /// Marks the pairs to which a private key is about to be sealed: the current ones, as long as not too many are marked.
    mutating func markPairsForPrivateKeys(of requirement: Requirement) {
        let purposes = Set(requirement.openWays.flatMap { $0 }.compactMap { KeyPurpose($0) }).intersection(KeyPurpose.factors)
        for purpose in purposes
        where slots.count(where: { $0.purpose == purpose && $0.holdsPrivateKeys }) < EnclaveLimits.keyFactorGenerationsMax {
            guard let index = slots.firstIndex(where: { $0.purpose == purpose }) else { continue }
            slots[index].holdsPrivateKeys = true
        }
    }
}
