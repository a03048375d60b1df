// Private keys. They are made here and never leave the enclave in the clear (Specs/enclave-keys.md).

package import VaubanAccessPolicy
import VaubanDER
package import VaubanKeyWire
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

extension Vault {
    /// Makes a private key. Its class must be unlocked. Does not prompt, whatever the access control; needs the application password if the
    /// access control has that flag.
    package func makeKey(
        _ kind: EnclaveKeyKind, _ control: AccessControl, password: borrowing SecretBytes? = nil,
        for requester: DerivationRequester = .unattended
    ) throws(Refusal) -> EnclaveKey {
        guard let requirement = control.requirement(for: kind.supports(.sign) ? .sign : .decapsulate) else {
            throw Refusal(.badParameter, "An access control that requires the user needs privateKeyUsage to protect a private key")
        }
        try checkSatisfiable(requirement, of: control)
        if control.needsApplicationPassword { try checkClassIsOpen(control.protection, of: user) }
        let layer = control.needsApplicationPassword ? try newPasswordLayer(password, for: requester) : nil
        let made = try SoftwareKey.make(kind)
        return try state.withLock { (state) throws(Refusal) -> EnclaveKey in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard let current = bag.current(.protection(control.protection)) else {
                throw Refusal(.passcodeNotSet, "this accessibility needs a passcode; run: vauban passcode set")
            }
            guard let classKey = ring.key(.protection(control.protection), generation: current.generation) else { throw Self.closed(ring) }
            var (outer, changed) = try bag.keyForPrivateKeys(control.protection, under: classKey)
            changed.markPairsForPrivateKeys(of: requirement)
            if changed != bag { try state.replaceKeybag(changed, host) }
            let blank = EnclaveKey(
                kind: kind, user: user, identifier: try Keybag.randomBytes(16), control: control, publicKey: made.publicKey,
                generation: outer.generation, wrapped: [])
            let head = try Self.head(of: blank)
            return EnclaveKey(
                kind: kind, user: user, identifier: blank.identifier, control: control, publicKey: made.publicKey,
                generation: outer.generation,
                wrapped: try changed.wrapped(
                    made.secret, requirement: requirement, layer: layer, under: outer, row: head, item: head, isPrivateKey: true))
        }
    }

    /// Opens a private key for one operation, as far as the device's state allows.
    package func open(_ key: EnclaveKey, for operation: KeyOperation) throws(Refusal) -> RowOpening {
        guard key.kind.supports(operation), key.control.requirement(for: operation.itemOperation) != nil else {
            throw Refusal(.badParameter, "The key, or its access control, does not allow this operation")
        }
        let head = try Self.head(of: key)
        let item = try? WrappedItemKey(derBytes: key.wrapped)
        return try state.withLock { (state) throws(Refusal) -> RowOpening in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            let outer = HeldKey(
                purpose: .privateKeys(key.control.protection), generation: key.generation, key: try bag.keyOf(key, in: ring))
            do throws(Refusal) {
                return try RowOpening(item, under: outer, bytes: head, of: .key(key, operation), bound: head)
            } catch {
                throw error.reason == .rowDamaged ? Refusal(.keyDamaged) : error
            }
        }
    }

    /// Throws unless the key's class is unlocked now.
    package func checkClassIsOpen(_ key: EnclaveKey) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            try bag.checkClassIsOpen(key, in: ring)
        }
    }

    private static func head(of key: EnclaveKey) throws(Refusal) -> [UInt8] {
        do { return try key.head() } catch { throw Refusal(.internalError, "a key cannot be encoded") }
    }
}
