// Creates rows from items. Every write has its own bindings, so halves of different writes never match.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal

/// A secret half and its binding.
struct SecretHalf {
    let binding: [UInt8]
    let wrappedKey: [UInt8]
    let secret: [UInt8]
}

extension RequestInProgress {
    /// Returns the binding for one write of an item.
    func binding(_ record: ItemRecord, item: [UInt8], generation: [UInt8]) throws -> RowBinding {
        RowBinding(
            user: user, protection: record.protection, generation: generation, item: item, version: try Entropy.bytes(16),
            kind: record.kind.rawValue, accessGroup: record.accessGroup, accessControl: record.accessControl)
    }

    /// Encrypts a value under a new item key. Never prompts, whatever the access control demands, but takes the application password if it
    /// demands one.
    func seal(_ value: borrowing PaddedValue, _ binding: RowBinding) throws -> SecretHalf {
        let sealed = try enclave.seal(binding, password: password)
        let secret = try RowCipher.seal(value, key: sealed.key, binding: try binding.itemBinding.encoded())
        return SecretHalf(binding: try binding.encoded(), wrappedKey: sealed.wrapped, secret: secret)
    }

    /// Throws if an item needs an application password and the request contains none. The user is not prompted for a new one, since a
    /// typing error in it would be noticed too late.
    func throwIfPasswordIsMissing(for record: ItemRecord) throws(Refusal) {
        if record.accessControl?.needsApplicationPassword == true, password == nil { throw Refusal(.applicationPasswordMissing) }
    }

    /// Returns the row of a write that does not change the item's attributes.
    func row(of opened: OpenedRow, binding: RowBinding, secret: SecretHalf, blinds: RowBlinds) throws -> StoredRow {
        try row(of: opened.record, isCanary: opened.isCanary, binding: binding, secret: secret, blinds: blinds)
    }

    /// Returns the row of a write. The metadata half is encrypted last, since it authenticates everything else. `isCanary` is the mark that
    /// the item had before the write.
    func row(
        of record: ItemRecord, isCanary: Bool, binding: RowBinding, secret: SecretHalf, blinds: RowBlinds
    ) throws -> StoredRow {
        if record.isSynchronizable { meetsSynchronizable = true }
        let digest = RowCipher.digest((secret.binding, secret.wrappedKey, secret.secret), blinds)
        let content = RowMetadata(digest: digest, attributes: record.attributes, isCanary: isCanary)
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

    /// Throws if a record is too large for a reply.
    func checkSize(_ record: ItemRecord) throws {
        guard try record.encoded().count <= KeychainLimits.recordBytesMax else {
            throw Refusal(.dataTooLarge, "The attributes of an item are too long in total")
        }
    }

    /// Calls `step` until it returns true, again whenever the enclave's keys or a row changed meanwhile. A row changes only when another
    /// request has finished, so all concurrent requests finish eventually. Such a change does not affect the leased keys.
    func withRetries(_ step: () throws -> Bool) throws {
        var attempts = 0
        var timesKeysChanged = 0
        repeat {
            attempts += 1
            lacksRoom = false
            do {
                if try step() { return }
                // A row that stays in the way, although it does not open, would do so at each attempt.
                if lacksRoom { throw StorageError.full }
            } catch is RowHasChanged {
                // The next attempt reads it again.
            } catch let refusal as Refusal where refusal.reason == .keysChanged {
                timesKeysChanged += 1
                keys.startOver()
            }
        } while timesKeysChanged < KeychainLimits.attemptsMax && mayRetry(after: attempts)
        throw Self.changedByOthers
    }

    /// Returns whether to try again. Limits the attempts if the user may have been prompted, so that other requests that keep writing the
    /// item do not cause prompt after prompt.
    func mayRetry(after attempts: Int) -> Bool { attempts < (mayHavePrompted ? KeychainLimits.attemptsMax : KeychainLimits.racesMax) }

    static var changedByOthers: Refusal { Refusal(.unavailable, "Other programs keep changing the item; try again") }

    /// Returns whether a write was done; false if it must be tried again on the current rows.
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
    /// The item's owner. Every stored item has one.
    var accessGroup: String {
        if case .text(let group) = attributes[.accessGroup] { group } else { AccessGroup.unsigned }
    }
}
