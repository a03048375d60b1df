// From an item to a row. Every write has bindings of its own, so that halves of two writes never fit.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal

/// A secret half with what it is bound to.
struct SecretHalf {
    let binding: [UInt8]
    let wrappedKey: [UInt8]
    let secret: [UInt8]
}

extension RequestInProgress {
    /// A binding for one write of an item.
    func binding(_ record: ItemRecord, item: [UInt8], generation: [UInt8]) throws -> RowBinding {
        RowBinding(
            user: user, protection: record.protection, generation: generation, item: item, version: try Entropy.bytes(16),
            kind: record.kind.rawValue, accessGroup: record.accessGroup, accessControl: record.accessControl)
    }

    /// A value under a new item key. Needs no user, whatever the access control says, but the application's password
    /// where it asks for one.
    func seal(_ value: borrowing PaddedValue, _ binding: RowBinding) throws -> SecretHalf {
        let sealed = try enclave.seal(binding, password: password)
        let secret = try RowCipher.seal(value, key: sealed.key, binding: try binding.itemBinding.encoded())
        return SecretHalf(binding: try binding.encoded(), wrappedKey: sealed.wrapped, secret: secret)
    }

    /// Refused before the user is asked for what is there already: a value is sealed under no password but one that comes with the
    /// request, since a slip of the keys in a new one would be found when it is too late.
    func throwIfPasswordIsMissing(for record: ItemRecord) throws(Refusal) {
        if record.accessControl?.needsApplicationPassword == true, password == nil { throw Refusal(.applicationPasswordMissing) }
    }

    /// The row of a write, with the metadata half made last, since it vouches for everything else.
    func row(_ record: ItemRecord, _ binding: RowBinding, _ secret: SecretHalf, _ blinds: RowBlinds) throws -> StoredRow {
        let digest = RowCipher.digest((secret.binding, secret.wrappedKey, secret.secret), blinds)
        let content = RowMetadata(digest: digest, attributes: record.attributes)
        let bytes = try binding.encoded()
        let metadata = try keys.use(.metadata(binding.protection), generation: binding.generation) { key in
            try RowCipher.seal(content, key: key, binding: bytes)
        }
        guard let metadata else { throw keys.closed }
        let halves = RowHalves(
            secretBinding: secret.binding, wrappedKey: secret.wrappedKey, secret: secret.secret, metadataBinding: bytes, metadata: metadata)
        return StoredRow(
            item: binding.item, kind: binding.kind, protection: binding.protection.number, generation: binding.generation,
            blinds: blinds, halves: halves)
    }

    /// A record that no reply could carry is refused when it is written.
    func checkSize(_ record: ItemRecord) throws {
        guard try record.encoded().count <= KeychainLimits.recordBytesMax else {
            throw Refusal(.dataTooLarge, "the attributes of an item are together too long")
        }
    }

    /// Runs a step until it answers true: again when the enclave's keys or a row changed under it. A row changes when somebody
    /// else's request has come to its end, so of many at once each comes to its own; what is lent has not changed by that.
    func repeating(_ step: () throws -> Bool) throws {
        var tries = 0
        var timesKeysChanged = 0
        repeat {
            tries += 1
            do {
                if try step() { return }
            } catch let refusal as Refusal where refusal.reason == .keysChanged {
                timesKeysChanged += 1
                keys.startOver()
            }
        } while timesKeysChanged < KeychainLimits.attemptsMax && mayRepeat(after: tries)
        throw Self.changedByOthers
    }

    /// Nobody is asked over and over because others keep writing what the question is about.
    func mayRepeat(after tries: Int) -> Bool { tries < (mayHaveAsked ? KeychainLimits.attemptsMax : KeychainLimits.racesMax) }

    static var changedByOthers: Refusal { Refusal(.unavailable, "the item is being changed by others; try again") }

    /// Whether a write was done; false when it is to be tried again with what is there now.
    func isDone(_ outcome: WriteOutcome, orElse detail: String? = nil) throws -> Bool {
        switch outcome {
        case .written: return true
        case .stale: return false
        case .retired: throw Refusal(.keysChanged)
        case .conflict(let other):
            if try isLive(other) { throw Refusal(.duplicateItem, detail) }
            return false
        }
    }
}

extension ItemRecord {
    /// Whose the item is. Every stored item has one.
    var accessGroup: String {
        if case .text(let group) = attributes[.accessGroup] { group } else { AccessGroup.unsigned }
    }
}
