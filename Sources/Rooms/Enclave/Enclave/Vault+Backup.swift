// Backups (Specs/backup.md): item keys are rewrapped from class keys to keys of a backup, and back. A class key never leaves the enclave,
// and an item key does only while its item is restored.

package import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

/// A backup's keybag as it is to be stored, and its keys.
package struct BackupOpening: Sendable {
    package let keybag: [UInt8]
    package let backup: OpenBackup
}

/// The keys of one item in a backup.
package struct BackupItemKeys: ~Copyable {
    package let attributes: SecretBytes
    /// The item key; nil if the item stays on another device.
    package let item: SecretBytes?

    init(attributes: consuming SecretBytes, item: consuming SecretBytes?) {
        self.attributes = attributes
        self.item = item
    }
}

extension Vault {
    /// Returns the item key of a row, wrapped for a backup, and the key of its attributes there.
    package func backUp(_ row: RowBinding, wrapped: [UInt8], into backup: OpenBackup) throws(Refusal) -> SealedItemKey {
        guard backup.use == .backUp else { throw Refusal(.notAllowedHere, "This backup is open for restoring") }
        guard row.accessControl == nil else { throw Refusal(.notAllowedHere, "Items with an access control are not backed up") }
        let rowBytes = try Self.encoded(row)
        let bound = try Self.encoded(row.itemBinding)
        let device = try deviceKey(of: row.protection, for: backup)
        return try state.withLock { (state) throws(Refusal) -> SealedItemKey in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard row.user == user else { throw Refusal(.badParameter, "The row belongs to another user") }
            try Self.check(backup, state)
            let classKey = try bag.classKey(of: row, in: ring)
            let key: SecretBytes
            do {
                let item = try WrappedItemKey(derBytes: wrapped)
                guard item.kind == .plain else { throw WrapError() }
                key = try item.open(under: classKey, row: rowBytes)
            } catch {
                throw Refusal(.rowDamaged)
            }
            return SealedItemKey(
                wrapped: try backup.wrap(key, row.protection, item: bound, device: device),
                key: try backup.attributesKey(row.protection, item: bound))
        }
    }

    /// Returns the keys of an item in a backup. `row` describes the item as it was backed up, with the user at that time.
    package func restoreKeys(_ row: RowBinding, wrapped: [UInt8], from backup: OpenBackup) throws(Refusal) -> BackupItemKeys {
        guard backup.use == .restore else { throw Refusal(.notAllowedHere, "This backup is open for adding") }
        let bound = try Self.encoded(row.itemBinding)
        let device = try deviceKey(of: row.protection, for: backup)
        return try state.withLock { (state) throws(Refusal) -> BackupItemKeys in
            state.applyExpirations(host)
            try Self.check(backup, state)
            return BackupItemKeys(
                attributes: try backup.attributesKey(row.protection, item: bound),
                item: try backup.unwrap(wrapped, row.protection, item: bound, device: device))
        }
    }

    // MARK: Parts

    /// The class whose key lets this device add to its backups. That key is available only while the device is unlocked, and never leaves
    /// it.
    static let continuingClass = ProtectionClass.whenUnlockedThisDeviceOnly

    static func keybag(_ bytes: [UInt8]) throws(Refusal) -> BackupKeybag {
        do { return try BackupKeybag(derBytes: bytes) } catch {
            if (error as? DERError)?.newerVersion != nil {
                throw Refusal(.unsupported, "The backup was made by a later version of Vauban; update Vauban, then restore")
            }
            throw Refusal(.badParameter, "The keys at the beginning of the backup are damaged; use another copy of it")
        }
    }

    /// Unwraps the slots with the opening key. If the continuation does not belong to the present class key, renews it, which requires the
    /// device to be unlocked; otherwise the keybag stays the same, byte for byte.
    func opening(of bag: inout BackupKeybag, under opener: borrowing SecretBytes, use: BackupUse) throws(Refusal) -> BackupOpening {
        var held: [HeldKey] = []
        for (purpose, slot) in zip(BackupPurpose.all, bag.slots) {
            do throws(WrapError) {
                let key = try KeyWrap.unwrap(
                    slot.wrapped, under: opener, label: BackupKeybag.slotLabel, context: bag.context(of: purpose))
                held.append(HeldKey(purpose: purpose.keyPurpose, generation: bag.identifier, key: key))
            } catch {
                guard held.isEmpty else {
                    throw Refusal(.badParameter, "The keys at the beginning of the backup are damaged; use another copy of it")
                }
                throw Self.wrongPassphrase
            }
        }
        guard let contents = held.first else { throw Refusal(.internalError) }
        let (epoch, continuation) = try state.withLock { (state) throws(Refusal) -> (Int64, BackupKeybag.Continuation?) in
            state.applyExpirations(host)
            let (keys, ring) = try state.createIfNeeded(host)
            // This device does not continue another device's backup, whose continuation by its own device stays as it is.
            guard use == .backUp, bag.device == host.backend.deviceIdentifier else { return (state.epoch, nil) }
            let purpose = KeyPurpose.protection(Self.continuingClass)
            guard let slot = keys.current(purpose), let key = ring.key(purpose, generation: slot.generation) else {
                throw Self.closed(ring)
            }
            if isContinued(bag, by: opener, under: key.key) { return (state.epoch, nil) }
            do {
                let context = try bag.context(ofContinuationFor: user)
                let wrapped = try KeyWrap.wrap(opener, under: key.key, label: BackupKeybag.continuationLabel, context: context)
                return (state.epoch, BackupKeybag.Continuation(generation: slot.generation, wrapped: wrapped))
            } catch {
                throw Refusal(.internalError, "a key of the backup cannot be wrapped")
            }
        }
        if let continuation { bag.continuation = continuation }
        let backup = OpenBackup(
            identifier: bag.identifier, use: use, epoch: epoch, contents: contents, classes: Array(held.dropFirst()))
        return BackupOpening(keybag: try Self.encoded(bag), backup: backup)
    }

    /// Returns whether the continuation opens with a class key and contains the opening key.
    private func isContinued(_ bag: BackupKeybag, by opener: borrowing SecretBytes, under key: borrowing SecretBytes) -> Bool {
        guard let continuation = bag.continuation else { return false }
        do {
            let context = try bag.context(ofContinuationFor: user)
            let found = try KeyWrap.unwrap(continuation.wrapped, under: key, label: BackupKeybag.continuationLabel, context: context)
            return found.equals(opener)
        } catch {
            return false
        }
    }

    /// Returns the opening key of a backup that this user's keys on this device continue.
    func continuation(of bag: BackupKeybag) throws(Refusal) -> SecretBytes {
        try state.withLock { (state) throws(Refusal) -> SecretBytes in
            state.applyExpirations(host)
            let (_, ring) = try state.createIfNeeded(host)
            guard ring.lock == .unlocked else { throw Self.closed(ring) }
            guard let continuation = bag.continuation, bag.device == host.backend.deviceIdentifier,
                let key = ring.key(.protection(Self.continuingClass), generation: continuation.generation)
            else { throw Self.needsPassphrase }
            do {
                let context = try bag.context(ofContinuationFor: user)
                return try KeyWrap.unwrap(
                    continuation.wrapped, under: key.key, label: BackupKeybag.continuationLabel, context: context)
            } catch {
                throw Self.needsPassphrase
            }
        }
    }

    private static var needsPassphrase: Refusal {
        Refusal(
            .notAllowedHere,
            "This keychain cannot add to the backup without its passphrase or restore key: run the command once with --passphrase-fd "
                + "or --restore-key")
    }

    /// Returns the device's key for items that stay on it; nil for other items.
    private func deviceKey(of protection: ProtectionClass, for backup: OpenBackup) throws(Refusal) -> SecretBytes? {
        guard protection.staysOnDevice else { return nil }
        let context = backup.identifier + withUnsafeBytes(of: user.bigEndian) { Array($0) }
        do throws(BackendError) {
            return try host.backend.deviceKey(label: "vauban backup device wrap v1", context: context)
        } catch {
            throw Refusal(.unavailable, error.description)
        }
    }

    /// Throws if the keychain was locked, or its keys changed, since the backup was opened.
    static func check(_ backup: OpenBackup, _ state: VaultState) throws(Refusal) {
        guard backup.epoch == state.epoch else {
            throw Refusal(.unavailable, "The keychain was locked or its keys changed meanwhile; run the command again")
        }
    }
}

extension BackupPurpose {
    /// A purpose that distinguishes the key from others in memory. The contents key takes a class that has no key in a backup.
    fileprivate var keyPurpose: KeyPurpose {
        switch self {
        case .contents: .protection(.whenPasscodeSetThisDeviceOnly)
        case .protection(let protection): .protection(protection)
        }
    }
}
