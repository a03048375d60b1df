// Private keys: made here, and never outside in the clear (Specs/enclave-keys.md).

package import VaubanAccessPolicy
import VaubanDER
package import VaubanKeyWire
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes

extension Vault {
    /// Makes a private key. Its class must be open; asks nobody, whatever the access control, but for the application's password
    /// where the control has that flag.
    package func makeKey(
        _ kind: EnclaveKeyKind, _ control: AccessControl, password: borrowing SecretBytes? = nil,
        for requester: DerivationRequester = .patient
    ) throws(Refusal) -> EnclaveKey {
        guard let requirement = control.requirement(for: kind.does(.sign) ? .sign : .decapsulate) else {
            throw Refusal(.badParameter, "an access control that asks for the user needs privateKeyUsage to protect a private key")
        }
        try throwIfNeverMet(requirement, of: control)
        if control.needsApplicationPassword { try throwIfClosed(control.protection, of: user) }
        let layer = control.needsApplicationPassword ? try newPasswordLayer(password, for: requester) : nil
        let made = try SoftwareKey.make(kind)
        return try state.withLock { (state) throws(Refusal) -> EnclaveKey in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            guard let current = bag.current(.protection(control.protection)) else {
                throw Refusal(.passcodeNotSet, "this accessibility needs a passcode; run: vauban passcode set")
            }
            guard let classKey = ring.key(.protection(control.protection), generation: current.generation) else { throw Self.closed(ring) }
            var (outer, changed) = try bag.keyForPrivateKeys(control.protection, under: classKey)
            changed.markPairsForPrivateKeys(of: requirement)
            if changed != bag { try state.replace(changed, user: user, host: host) }
            let blank = EnclaveKey(
                kind: kind, user: user, identifier: try Keybag.randomBytes(16), control: control, publicKey: made.publicKey,
                generation: outer.generation, wrapped: [])
            let head = try Self.head(of: blank)
            return EnclaveKey(
                kind: kind, user: user, identifier: blank.identifier, control: control, publicKey: made.publicKey,
                generation: outer.generation,
                wrapped: try changed.wrapped(made.secret, requirement, layer, under: outer, row: head, item: head, isPrivateKey: true))
        }
    }

    /// Opens a private key for one operation, as far as the device's state allows.
    package func open(_ key: EnclaveKey, for operation: KeyOperation) throws(Refusal) -> RowOpening {
        guard key.kind.does(operation), key.control.requirement(for: operation.itemOperation) != nil else {
            throw Refusal(.badParameter, "the key, or its access control, does not allow this operation")
        }
        let head = try Self.head(of: key)
        let item = try? WrappedItemKey(derBytes: key.wrapped)
        return try state.withLock { (state) throws(Refusal) -> RowOpening in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            let outer = HeldKey(
                purpose: .privateKeys(key.control.protection), generation: key.generation, key: try bag.keyOf(key, in: ring))
            do throws(Refusal) {
                return try RowOpening(item, under: outer, bytes: head, of: .key(key, operation), bound: head)
            } catch {
                throw error.reason == .rowDamaged ? Refusal(.keyDamaged) : error
            }
        }
    }

    /// Refuses unless the key's class is open now.
    package func throwIfClosed(_ key: EnclaveKey) throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.settle(host)
            let (bag, ring) = try state.created(user: user, host: host)
            try bag.throwIfClosed(key, in: ring)
        }
    }

    private static func head(of key: EnclaveKey) throws(Refusal) -> [UInt8] {
        do { return try key.head() } catch { throw Refusal(.internalFault, "a key cannot be encoded") }
    }
}
