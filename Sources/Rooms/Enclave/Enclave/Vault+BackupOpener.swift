// The ways to open a backup (Specs/backup.md): with its passphrase, with the restore key of its recipient, and, on this device, to add to
// it.

package import EnclaveWire
import VaubanAccessPolicy
package import VaubanRefusal
package import VaubanSecretBytes

extension Vault {
    /// Makes the keys of a new backup under a passphrase, for a recipient, or both.
    package func makeBackup(
        passphrase: borrowing SecretBytes?, recipient: [UInt8]? = nil, for requester: DerivationRequester = .unattended
    ) throws(Refusal) -> BackupOpening {
        let (identifier, device) = (try Keybag.randomBytes(16), host.backend.deviceIdentifier)
        if let recipient {
            let key = try Keybag.randomKey()
            let context = BackupKeybag.recipientContext(identifier: identifier, device: device)
            let sealed: BackupRecipient
            do throws(WrapError) { sealed = try BackupRecipient(key, to: recipient, context: context) } catch {
                throw Refusal(.badParameter, "The recipient is not a public key")
            }
            let besides = try wrapped(key, passphrase: passphrase, to: sealed, identifier: identifier, for: requester)
            return try makeSlots(
                BackupKeybag(identifier: identifier, device: device, opener: .recipient(sealed, besides)), under: key)
        }
        switch passphrase {
        case .none: throw Refusal(.badParameter, "A new backup needs a passphrase or a recipient")
        case .some(let passphrase):
            return try stretchNew(passphrase, for: requester) { (stretched, cost) throws(Refusal) in
                try makeSlots(BackupKeybag(identifier: identifier, device: device, opener: .passphrase(cost)), under: stretched)
            }
        }
    }

    /// Opens a backup with its passphrase or restore key or, to add to it, with the keys of this device.
    package func openBackup(
        _ bytes: [UInt8], secret: borrowing SecretBytes?, isRestoreKey: Bool = false, use: BackupUse,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) -> BackupOpening {
        var bag = try Self.keybag(bytes)
        switch secret {
        case .none:
            guard use == .backUp else { throw Refusal(.badParameter, "Restoring needs the passphrase or the restore key of the backup") }
            let key = try continuation(of: bag)
            return try opening(of: &bag, under: key, use: use)
        case .some(let secret):
            try checkClassIsOpen(Self.continuingClass, of: user)
            let key = try isRestoreKey ? opened(bag, restoreKey: secret) : opened(bag, passphrase: secret, for: requester)
            return try opening(of: &bag, under: key, use: use)
        }
    }

    // MARK: Parts

    private func makeSlots(_ bag: consuming BackupKeybag, under opener: borrowing SecretBytes) throws(Refusal) -> BackupOpening {
        for purpose in BackupPurpose.all {
            let key = try Keybag.randomKey()
            do throws(WrapError) {
                let wrapped = try KeyWrap.wrap(key, under: opener, label: BackupKeybag.slotLabel, context: bag.context(of: purpose))
                bag.slots.append(BackupKeybag.Slot(purpose: purpose.number, wrapped: wrapped))
            } catch {
                throw Refusal(.internalError, "a key of the backup cannot be wrapped")
            }
        }
        return try opening(of: &bag, under: opener, use: .backUp)
    }

    /// Wraps the opening key of a backup for a recipient with a passphrase as well; nil if there is no passphrase.
    private func wrapped(
        _ key: borrowing SecretBytes, passphrase: borrowing SecretBytes?, to recipient: BackupRecipient, identifier: [UInt8],
        for requester: DerivationRequester
    ) throws(Refusal) -> BackupPassphrase? {
        switch passphrase {
        case .none: return nil
        case .some(let passphrase):
            return try stretchNew(passphrase, for: requester) { (stretched, cost) throws(Refusal) in
                do {
                    let context = try BackupKeybag.passphraseContext(
                        identifier: identifier, device: host.backend.deviceIdentifier, recipient)
                    return BackupPassphrase(
                        cost: cost, wrapped: try KeyWrap.wrap(key, under: stretched, label: BackupPassphrase.label, context: context))
                } catch {
                    throw Refusal(.internalError, "the key of the backup cannot be wrapped")
                }
            }
        }
    }

    private func stretchNew<Result>(
        _ passphrase: borrowing SecretBytes, for requester: DerivationRequester,
        _ body: (borrowing SecretBytes, StretchParameters) throws(Refusal) -> Result
    ) throws(Refusal) -> Result {
        guard (EnclaveLimits.backupPassphraseBytesMin...EnclaveLimits.applicationPasswordBytesMax).contains(passphrase.count) else {
            throw Refusal(.passcodeTooWeak, "the passphrase of a backup has 8 to 1024 bytes: anyone who has the backup can guess it")
        }
        try checkStrength(passphrase)
        try checkClassIsOpen(Self.continuingClass, of: user)
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        let cost = try newParameters(place, for: requester)
        return try body(try stretch(passphrase, parameters: cost, place: place, for: requester), cost)
    }

    /// Returns the opening key by the passphrase.
    private func opened(
        _ bag: BackupKeybag, passphrase: borrowing SecretBytes, for requester: DerivationRequester
    ) throws(Refusal) -> SecretBytes {
        let cost: StretchParameters
        switch bag.opener {
        case .passphrase(let only): cost = only
        case .recipient(_, let besides?): cost = besides.cost
        case .recipient(_, nil):
            throw Refusal(.badParameter, "This backup has no passphrase: give the restore key of its recipient with --restore-key")
        }
        guard cost.isAllowedInBackup else {
            throw Refusal(.unsupported, "The backup needs more computation than this version allows")
        }
        let place = try enterQueue(.applicationPassword)
        defer { host.derivations.leave(place) }
        let stretched = try stretch(passphrase, parameters: cost, place: place, for: requester)
        guard case .recipient(let recipient, let besides?) = bag.opener else { return stretched }
        do {
            let context = try BackupKeybag.passphraseContext(identifier: bag.identifier, device: bag.device, recipient)
            return try KeyWrap.unwrap(besides.wrapped, under: stretched, label: BackupPassphrase.label, context: context)
        } catch {
            throw Self.wrongPassphrase
        }
    }

    /// Returns the opening key by the restore key of the recipient.
    private func opened(_ bag: BackupKeybag, restoreKey: borrowing SecretBytes) throws(Refusal) -> SecretBytes {
        guard case .recipient(let recipient, _) = bag.opener else {
            throw Refusal(.badParameter, "This backup has no recipient: it opens with its passphrase")
        }
        guard recipient.isOpened(by: restoreKey) else {
            throw Refusal(.authenticationFailed, "the restore key is of another recipient than the backup, or its first bytes were altered")
        }
        do throws(WrapError) {
            return try recipient.open(
                with: restoreKey, context: BackupKeybag.recipientContext(identifier: bag.identifier, device: bag.device))
        } catch {
            throw Refusal(.badParameter, "The keys at the beginning of the backup are damaged; use another copy of it")
        }
    }

    static var wrongPassphrase: Refusal {
        Refusal(.authenticationFailed, "the passphrase of the backup is wrong, or its first bytes were altered")
    }
}

extension StretchParameters {
    /// Whether a derivation with these parameters costs at most a few times that of a passcode. The limit is needed since a file provides
    /// them.
    fileprivate var isAllowedInBackup: Bool { log2Rounds <= 18 && blockSize <= 16 && blockSize * parallelism <= 64 }
}
