import VaubanKeychainClient
import VaubanKeychainWire
import VaubanRefusal
import VaubanSecretBytes

/// The secret that opens a backup or makes a new one.
final class BackupOpener {
    private let secret: SecretBytes?
    private let isRestoreKey: Bool
    private let recipient: [UInt8]?

    /// The keys of this device, which continue a backup.
    static var device: BackupOpener { BackupOpener(secret: nil, isRestoreKey: false, recipient: nil) }

    /// A passphrase, a recipient of a new backup, or both.
    convenience init(passphrase: consuming SecretBytes?, recipient: [UInt8]? = nil) {
        self.init(secret: passphrase, isRestoreKey: false, recipient: recipient)
    }

    convenience init(_ key: borrowing RestoreKey) { self.init(secret: key.seed.duplicate(), isRestoreKey: true, recipient: nil) }

    private init(secret: consuming SecretBytes?, isRestoreKey: Bool, recipient: [UInt8]?) {
        self.secret = secret
        self.isRestoreKey = isRestoreKey
        self.recipient = recipient
    }

    /// Opens the backup of a keybag, or makes a new one if there is none. Every secret except the keys of this device may need the user.
    func begin(_ client: ServiceClient, keybag: [UInt8]?, restores: Bool) throws -> ReplyEntry<BackupReply> {
        let begin = { (waiting: KeychainClient.Waiting?) throws in
            try client.keychain.beginBackup(
                keybag: keybag, restores: restores, recipient: self.recipient, secret: self.secret, isRestoreKey: self.isRestoreKey,
                waiting: waiting)
        }
        let asksNobody = recipient == nil && secret == nil
        return try asksNobody ? begin(nil) : client.withPrompts { waiting in try begin(waiting) }
    }
}
