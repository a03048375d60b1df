// What this room needs of the enclave on behalf of one caller. The real one is a connection; tests bring their own.

package import EnclaveWire
package import VaubanSecretBytes
package import VaubanUserModel

package protocol EnclaveConnectionThread {
    /// The keys that are open now.
    func lease() throws -> KeyBorrowing
    /// A new item key for a row. The password goes to the enclave only if the row's control needs one.
    func seal(_ row: RowBinding, password: borrowing SecretBytes?) throws -> SealedItemKey
    /// The item key of a row. May ask the user, and then takes user time.
    func open(_ row: RowBinding, wrapped: [UInt8], reason: String?, mayAsk: Bool, password: borrowing SecretBytes?) throws -> SecretBytes
    /// The same item key under another generation of its class key; asks nobody.
    func rewrap(_ row: RowBinding, wrapped: [UInt8], generation: [UInt8]) throws -> [UInt8]
    /// Says that no row is under these keys any more. At most `EnclaveRequest.retiredMax` at once.
    func retire(_ keys: [KeyName]) throws
    /// Asks the user whether the caller may go across the line between its items and another's.
    func consent(_ consent: Consent, reason: String?) throws -> ConsentChoice
    /// What became of a key.
    func fate(_ key: KeyName) throws -> KeyFate
}

package struct KeyBorrowing: ~Copyable {
    package let lease: KeyLease
    /// The keys of `lease`, one after the other.
    package let secrets: SecretBytes
    /// The standing connection over which they can be taken back.
    package let standing: ConnectionNumber

    package init(lease: KeyLease, secrets: consuming SecretBytes, standing: ConnectionNumber) {
        self.lease = lease
        self.secrets = secrets
        self.standing = standing
    }
}

package struct SealedItemKey: ~Copyable {
    package let wrapped: [UInt8]
    package let key: SecretBytes

    package init(wrapped: [UInt8], key: consuming SecretBytes) {
        self.wrapped = wrapped
        self.key = key
    }
}

/// Which of the standing connections since this process began.
package struct ConnectionNumber: Hashable, Sendable {
    let value: Int64
}

/// The caller has hung up; there is nobody to answer.
package struct CallerHungUp: Error {
    package init() {}
}
