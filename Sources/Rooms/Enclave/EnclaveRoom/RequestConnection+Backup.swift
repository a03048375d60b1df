// The backup that is open on a connection (Specs/backup.md).

import Enclave
import EnclaveWire
import VaubanRefusal
import VaubanSecretBytes

extension RequestConnection {
    /// Opens or makes a backup, which stays open until the connection ends or opens another.
    func openBackup(
        _ keybag: [UInt8]?, _ use: BackupUse, recipient: [UInt8]?, secret: borrowing SecretBytes?, isRestoreKey: Bool
    ) throws(Refusal) -> Response {
        let (caller, vault) = (try registeredCaller(), try vault())
        let epoch = vault.epoch
        room.connectionKeys.change(on: self, in: vault, since: epoch) { $0.backup = nil }
        let opening: BackupOpening
        if let keybag {
            guard recipient == nil else { throw Refusal(.badParameter, "The recipient of a backup cannot be changed; make a new backup") }
            opening = try vault.openBackup(keybag, secret: secret, isRestoreKey: isRestoreKey, use: use, for: requester(for: caller))
        } else {
            guard !isRestoreKey else { throw Refusal(.badParameter, "A new backup takes no restore key") }
            opening = try vault.makeBackup(passphrase: secret, recipient: recipient, for: requester(for: caller))
        }
        room.connectionKeys.change(on: self, in: vault, since: epoch) { $0.backup = opening.backup }
        return Response(.backup(keybag: opening.keybag), secret: opening.backup.frameKey())
    }

    func backUp(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> Response {
        let sealed = try vault().backUp(row, wrapped: wrapped, into: try openedBackup())
        return Response(.sealed(wrapped: sealed.wrapped), secret: sealed.key.duplicate())
    }

    func restoreKeys(_ row: RowBinding, wrapped: [UInt8]) throws(Refusal) -> Response {
        response(to: try vault().restoreKeys(row, wrapped: wrapped, from: try openedBackup()))
    }

    /// Returns the keys of one item in a backup or a circle.
    func response(to keys: borrowing BackupItemKeys) -> Response {
        switch keys.item {
        case .none: return Response(.restoreKeys(isOfOtherDevice: true), secret: keys.attributes.duplicate())
        case .some(let item):
            let both = keys.attributes.withUnsafeBytes { attributes in
                item.withUnsafeBytes { item in
                    SecretBytes(count: attributes.count + item.count) { target in
                        target.copyMemory(from: attributes)
                        UnsafeMutableRawBufferPointer(rebasing: target[attributes.count...]).copyMemory(from: item)
                    }
                }
            }
            return Response(.restoreKeys(isOfOtherDevice: false), secret: both)
        }
    }

    private func openedBackup() throws(Refusal) -> OpenBackup {
        guard let backup = room.connectionKeys.keys(on: self).backup else {
            throw room.connectionKeys.refusal(on: self, "No backup is open; run the command again")
        }
        return backup
    }
}
