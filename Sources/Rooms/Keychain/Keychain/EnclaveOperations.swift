// The operations of the enclave on behalf of one caller, over a connection or by a replacement in tests.

package import EnclaveWire
package import VaubanAccessPolicy
package import VaubanLogHead
package import VaubanSecretBytes
package import VaubanSyncModel
package import VaubanUserModel

package protocol EnclaveOperations {
    /// Returns the keys that are available now.
    func lease() throws -> ReceivedLease
    /// Returns a new item key for a row. The password is sent only if the row's access control needs one.
    func seal(_ row: RowBinding, password: borrowing SecretBytes?) throws -> ItemKeyReply
    /// Returns the item key of a row. May prompt the user, which counts as user time.
    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayPrompt: Bool, password: borrowing SecretBytes?) throws -> SecretBytes
    /// Returns the same item key wrapped under another generation of its class key. Never prompts.
    func rewrap(_ row: RowBinding, wrapped: [UInt8], generation: [UInt8]) throws -> [UInt8]
    /// Reports that no row uses these keys any more. Accepts at most `EnclaveRequest.retiredMax` keys.
    func retire(_ keys: [KeyName]) throws
    /// Opens a backup on this connection, or makes a new one. The secret is a passphrase or a restore key.
    func openBackup(
        _ keybag: [UInt8]?, _ use: BackupUse, recipient: [UInt8]?, secret: borrowing SecretBytes?, isRestoreKey: Bool
    ) throws -> OpenedBackup
    /// Returns the item key of a row wrapped for the open backup, and the key of its attributes there.
    func backUp(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply
    /// Returns the attributes key of an item in the open backup, and its item key unless it stays on another device.
    func restoreKeys(_ row: RowBinding, wrapped: [UInt8]) throws -> RestoredKeys
    /// Performs a request about the user's circle of devices. May prompt the user, which counts as user time.
    func circle(_ request: CircleRequest, secret: borrowing SecretBytes?) throws -> CircleResult
    /// Returns the item key of a row wrapped for the open circle, and the key of its attributes there.
    func sealForCircle(_ row: RowBinding, wrapped: [UInt8]) throws -> ItemKeyReply
    /// Returns the keys of an item that another device of the open circle wrote.
    func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64) throws -> RestoredKeys
    /// Returns the same for a companion. Throws `notAllowedHere` if the name is not on its list.
    func sealForCompanion(_ row: RowBinding, wrapped: [UInt8], device: [UInt8], name: [UInt8]) throws -> ItemKeyReply
    /// Returns the key that blinds the names of items in the open circle; nil on a companion.
    func circleNames() throws -> SecretBytes?
    /// Creates the first key of a series of records for the user's access log.
    func makeSeriesKey() throws -> SeriesKeyReply
    /// Extends the anchor of the access log in the enclave by the records that follow it. Returns the new anchor.
    func anchorLog(_ links: [AccessLogLink]) throws -> AccessLogAnchor
    /// Signs the end of the access log that the enclave keeps, or cosigns another device's, while the device is unlocked.
    func signLogHead(_ request: LogHeadRequest) throws -> SignedLogHead
    /// Returns the first key of a series of records, while the device is unlocked. Throws `keyDestroyed` if nothing opens it any more.
    func openSeriesKey(_ sealed: [UInt8]) throws -> SecretBytes
    /// Sets the name of a team that the user trusts, for prompts to this caller's user; nil removes it.
    func nameTeam(_ team: TeamIdentifier, _ name: String?) throws
    /// Prompts the user for consent to the caller's use of another owner's items.
    func consent(_ consent: Consent, reason: String?) throws -> ConsentChoice
    /// Returns whether a key exists, was destroyed, or is unknown.
    func keyStatus(of key: KeyName) throws -> KeyStatus
}

package struct ReceivedLease: ~Copyable {
    package let lease: KeyLease
    /// The keys of `lease`, concatenated.
    package let secrets: SecretBytes
    /// The standing connection over which the enclave can recall the keys.
    package let standing: ConnectionNumber

    package init(lease: KeyLease, secrets: consuming SecretBytes, standing: ConnectionNumber) {
        self.lease = lease
        self.secrets = secrets
        self.standing = standing
    }
}

/// The enclave's reply with the key of a value, wrapped and in the clear.
package struct ItemKeyReply: ~Copyable {
    package let wrapped: [UInt8]
    package let key: SecretBytes

    package init(wrapped: [UInt8], key: consuming SecretBytes) {
        self.wrapped = wrapped
        self.key = key
    }
}

/// The enclave's reply with the key of a new series of the access log.
package struct SeriesKeyReply: ~Copyable {
    package let key: SecretBytes
    package let sealed: [UInt8]
    /// The last record that the enclave knows.
    package let end: AccessLogEnd

    package init(key: consuming SecretBytes, sealed: [UInt8], end: AccessLogEnd) {
        self.key = key
        self.sealed = sealed
        self.end = end
    }
}

package struct OpenedBackup: ~Copyable {
    package let keybag: [UInt8]
    package let frameKey: SecretBytes

    package init(keybag: [UInt8], frameKey: consuming SecretBytes) {
        self.keybag = keybag
        self.frameKey = frameKey
    }
}

package struct CircleResult: ~Copyable {
    package let reply: CircleReply
    /// The keys of the circle's files and of the device's state, if the request opened it, of the files for a companion, or the seed of a
    /// token or the recovery key that it made.
    package let keys: SecretBytes?

    package init(_ reply: CircleReply, keys: consuming SecretBytes?) {
        self.reply = reply
        self.keys = keys
    }
}

package struct RestoredKeys: ~Copyable {
    package let attributes: SecretBytes
    package let item: SecretBytes?

    package init(attributes: consuming SecretBytes, item: consuming SecretBytes?) {
        self.attributes = attributes
        self.item = item
    }
}

/// Numbers the standing connections since this process started.
package struct ConnectionNumber: Hashable, Sendable {
    let value: Int64
}

/// The caller hung up during a request to the enclave, so there is no one to reply to.
package struct CallerHungUp: Error {
    package init() {}
}
