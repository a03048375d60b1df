// Item keys: made and wrapped for a row, and given back for one.

internal import Synchronization
package import EnclaveWire
import SwiftASN1
package import VaubanAccessPolicy
import VaubanDER
package import VaubanSecretBytes

/// `WrappedItemKey ::= SEQUENCE { version INTEGER (1), kind INTEGER, blob OCTET STRING }`: AES-256-GCM under the class
/// key. Kind 0 wraps the item key, kind 1 its seal to a factor pair.
struct WrappedItemKey: DERReadable, DERWritable {
    enum Kind: Int64 { case plain = 0, factor = 1 }
    let kind: Kind
    let blob: [UInt8]

    init(kind: Kind, blob: [UInt8]) {
        self.kind = kind
        self.blob = blob
    }

    init(from fields: inout DERFields) throws {
        try fields.version(1)
        kind = try fields.integer("kind", in: 0...1) == 0 ? .plain : .factor
        blob = try fields.octets("blob", in: 28...400)
    }

    func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(kind.rawValue)
            try fields.octets(blob)
        }
    }

    var label: String { Self.label(kind) }
    static func label(_ kind: Kind) -> String { kind == .plain ? "vauban item key v1" : "vauban item key of a factor v1" }
}

/// A fresh item key and its wrapped form.
package struct SealedItemKey: ~Copyable {
    package let wrapped: [UInt8]
    package let key: SecretBytes

    init(wrapped: [UInt8], key: consuming SecretBytes) {
        self.wrapped = wrapped
        self.key = key
    }
}

/// What a row needs before its key is given.
package enum RowOpening: ~Copyable {
    case opened(SecretBytes)
    /// The seal of a factor; it opens with what the person's passcode gives.
    case needsPerson(FactorOpening)
}

/// A row whose class is open, on its way to the person.
package struct FactorOpening: Sendable {
    let pair: [UInt8]
    let seal: FactorSealBytes
    let row: RowBinding
    let rowBytes: [UInt8]
}

/// The encoded seal; decoded again when it is used, since it waits meanwhile.
typealias FactorSealBytes = [UInt8]

extension Vault {
    /// Makes an item key for a row. Needs the row's class to be open, and no person, whatever the access control.
    package func seal(_ row: RowBinding) throws(Refusal) -> SealedItemKey {
        let rowBytes = try Self.encoded(row)
        return try state.withLock { (state) throws(Refusal) -> SealedItemKey in
            let (bag, ring) = try state.created(person: person, host: host)
            guard row.person == person else { throw Refusal(.badParameter, "the row is another person's") }
            guard let current = bag.current(.protection(row.protection)) else {
                throw Refusal(.passcodeNotSet, "this accessibility needs a passcode; run: vauban passcode set")
            }
            guard let classKey = ring.key(.protection(row.protection), generation: current.generation) else { throw Self.closed(ring) }
            guard current.generation == row.generation else { throw Refusal(.keysChanged) }
            let key = try Keybag.randomKey()
            let requirement = row.accessControl?.requirementToDecrypt ?? .none
            guard let factor = try Self.factor(of: requirement, in: bag) else {
                return SealedItemKey(wrapped: try Self.wrap(key, .plain, classKey, rowBytes), key: key)
            }
            let seal: FactorSeal
            do throws(WrapFault) {
                seal = try FactorSeal(key, toPair: factor.generation, publicKey: factor.publicKey ?? [], row: rowBytes)
            } catch {
                throw Refusal(.internalFault, "an item key cannot be sealed")
            }
            let inner = SecretBytes(copying: try Self.encoded(seal))
            return SealedItemKey(wrapped: try Self.wrap(inner, .factor, classKey, rowBytes), key: key)
        }
    }

    private static func wrap(
        _ inner: borrowing SecretBytes, _ kind: WrappedItemKey.Kind, _ classKey: HeldKey, _ rowBytes: [UInt8]
    ) throws(Refusal) -> [UInt8] {
        let blob: [UInt8]
        do throws(WrapFault) {
            blob = try KeyWrap.wrap(inner, under: classKey.key, label: WrappedItemKey.label(kind), context: rowBytes)
        } catch {
            throw Refusal(.internalFault, "an item key cannot be wrapped")
        }
        return try encoded(WrappedItemKey(kind: kind, blob: blob))
    }

    /// Opens a row as far as the device's state allows.
    package func open(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> RowOpening {
        let rowBytes = try Self.encoded(row)
        return try state.withLock { (state) throws(Refusal) -> RowOpening in
            let (bag, ring) = try state.created(person: person, host: host)
            guard row.person == person else { throw Refusal(.badParameter, "the row is another person's") }
            guard bag.slot(.protection(row.protection), generation: row.generation) != nil else { throw Refusal(.keyDestroyed) }
            guard let classKey = ring.key(.protection(row.protection), generation: row.generation) else { throw Self.closed(ring) }
            let item: WrappedItemKey
            let inner: SecretBytes
            do {
                item = try WrappedItemKey(derBytes: wrapped)
                inner = try KeyWrap.unwrap(item.blob, under: classKey.key, label: item.label, context: rowBytes)
            } catch {
                throw Refusal(.rowDamaged)
            }
            guard item.kind == .factor else { return .opened(inner) }
            guard bag.passcode != nil else { throw Refusal(.passcodeNotSet) }
            let bytes = inner.withUnsafeBytes { Array($0) }
            do {
                return .needsPerson(FactorOpening(pair: try FactorSeal(derBytes: bytes).pair, seal: bytes, row: row, rowBytes: rowBytes))
            } catch {
                throw Refusal(.rowDamaged)
            }
        }
    }

    /// Finishes with what the person gave. The class must still be open: a lock while the person was asked wins.
    package func open(_ opening: FactorOpening, passcodeKey: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        try state.withLock { (state) throws(Refusal) -> SecretBytes in
            let (bag, ring) = try state.created(person: person, host: host)
            guard ring.key(.protection(opening.row.protection), generation: opening.row.generation) != nil else { throw Self.closed(ring) }
            guard let slot = bag.slots.first(where: { KeyPurpose.factors.contains($0.purpose) && $0.generation == opening.pair }) else {
                throw Refusal(.keyDestroyed)
            }
            try bag.throwIfChanged(since: passcodeKey)
            let privateKey = try bag.open(slot, with: passcodeKey)
            do {
                return try FactorSeal(derBytes: opening.seal).open(with: privateKey, row: opening.rowBytes)
            } catch {
                throw Refusal(.rowDamaged)
            }
        }
    }

    private static func factor(of requirement: Requirement, in bag: Keybag) throws(Refusal) -> KeySlot? {
        switch requirement.ways {
        case [[]]: return nil
        case [[.presence]]: return bag.current(.presenceFactor)
        case [[.passcode]]: return bag.current(.passcodeFactor)
        default: throw Refusal(.unsupported, "this access control needs a factor that this version does not have")
        }
    }

    private static func closed(_ ring: KeyRing) -> Refusal {
        Refusal(ring.lock == .beforeFirstUnlock ? .beforeFirstUnlock : .locked)
    }

    private static func encoded(_ value: some DERWritable) throws(Refusal) -> [UInt8] {
        do { return try value.encoded() } catch { throw Refusal(.internalFault, "a value cannot be encoded") }
    }
}
