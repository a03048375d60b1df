// Backups, for the command line (Specs/backup.md).

package import VaubanKeychainWire
package import VaubanRefusal
package import VaubanSecretBytes

extension KeychainClient {
    /// Opens a backup on this connection, or makes a new one, for a recipient if there is one; returns the keybag to store, with the key of
    /// the frames. Without a passphrase or restore key the keys of this device continue the backup.
    package func beginBackup(
        keybag: [UInt8]?, restores: Bool, recipient: [UInt8]? = nil, secret: borrowing SecretBytes?, isRestoreKey: Bool = false,
        waiting: Waiting? = nil
    ) throws(Refusal) -> ReplyEntry<BackupReply> {
        let begin = BackupRequest.begin(keybag: keybag, restores: restores, recipient: recipient, passwordIsRestoreKey: isRestoreKey)
        let request = KeychainRequest.backup(begin, passwordBytes: try Self.passwordBytes(secret))
        guard let begun = try call(request, secret: nil, password: secret, waiting: waiting).backup.first else {
            throw Refusal(.internalError, "the keychain opened no backup")
        }
        return begun
    }

    /// Returns the next rows that can be backed up; none at the end.
    package func backupRows(after row: Int64) throws(Refusal) -> [BackupRow] {
        guard case .rows(let rows)? = try call(.backup(.list(after: row)), secret: nil, password: nil, waiting: nil).backup.first?.reply
        else { throw Refusal(.internalError, "the keychain listed no rows") }
        return rows
    }

    /// Copies as many of the rows, in their order, as fit into one reply.
    package func copyRows(_ rows: [Int64]) throws(Refusal) -> [ReplyEntry<BackupReply>] {
        try call(.backup(.copy(rows)), secret: nil, password: nil, waiting: nil).backup
    }

    /// Returns which of these items, none of them among the rows, were deleted.
    package func deletedItems(among items: [[UInt8]]) throws(Refusal) -> Set<[UInt8]> {
        var deleted: Set<[UInt8]> = []
        for start in stride(from: 0, to: items.count, by: BackupRequest.rowsMax) {
            let some = Array(items[start..<min(start + BackupRequest.rowsMax, items.count)])
            guard
                case .deleted(let found)? = try call(.backup(.deleted(some)), secret: nil, password: nil, waiting: nil).backup.first?.reply
            else { throw Refusal(.internalError, "the keychain did not say what was deleted") }
            deleted.formUnion(found)
        }
        return deleted
    }

    /// Returns which database the keychain has, and the number of its last backup or, with `isNext`, of the next.
    package func backupRun(isNext: Bool) throws(Refusal) -> (database: Int64, number: Int64) {
        guard
            case .run(let database, let number)? = try call(.backup(.run(isNext: isNext)), secret: nil, password: nil, waiting: nil)
                .backup.first?.reply
        else { throw Refusal(.internalError, "the keychain did not say which database it has") }
        return (database, number)
    }

    /// Merges an item of the open backup into the keychain; `rest` is its secret half without the beginning.
    package func restore(_ item: BackupItem, rest: borrowing SecretBytes?) throws(Refusal) -> (name: String, outcome: BackupOutcome) {
        guard
            case .restored(let name, let outcome)? = try call(.backup(.restore(item)), secret: rest, password: nil, waiting: nil)
                .backup.first?.reply
        else { throw Refusal(.internalError, "the keychain did not restore an item") }
        return (name, outcome)
    }
}
