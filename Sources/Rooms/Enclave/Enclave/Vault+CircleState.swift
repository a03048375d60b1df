// This device's part of a circle in the user's state (Specs/sync.md, "The keybag"). It is available only while the device is unlocked and
// has a passcode. Every change is durable before its document leaves the enclave.

import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanSyncModel

extension Vault {
    /// The class whose key wraps the circle's keys. It is available only while the device is unlocked, and only on this device.
    private static let circleClass = ProtectionClass.whenUnlockedThisDeviceOnly

    // MARK: Reading

    /// Returns this device's part of its circle, or of a request to join one. Throws if there is none.
    func membership() throws(Refusal) -> CircleMembership {
        guard let member = try membershipIfAny() else { throw CircleMembership.notInCircle }
        return member
    }

    /// Returns this device's part of its circle. Throws on a companion, which neither changes nor writes anything.
    func circleMember() throws(Refusal) -> CircleMembership {
        let member = try membership()
        guard !member.body.isCompanion else { throw CircleMembership.companionChangesNothing }
        return member
    }

    func membershipIfAny() throws(Refusal) -> CircleMembership? {
        try state.withLock { (state) throws(Refusal) -> CircleMembership? in
            guard let stored = try circleContent(&state) else { return nil }
            let (bag, classKey) = try circleClassKey(&state)
            let slot = bag.slots.first { $0.purpose == .privateKeys(Self.circleClass) && $0.generation == stored.generation }
            guard let slot else {
                throw Refusal(
                    .stateUnreadable, "the keys of the circle were erased with the keychain; run vauban sync leave, then join again")
            }
            let outer = try bag.open(slot, with: classKey.key)
            do {
                let body = try CircleBody(derBytes: stored.body)
                let context = circleContext(stored.generation, stored.body)
                let opened = try KeyWrap.unwrap(stored.wrapped, under: outer, label: CircleContent.label, context: context)
                let secrets = CircleSecrets(opened)
                guard secrets.bytes.count == CircleSecrets.byteCount(epochs: body.epoch) else { throw WrapError() }
                return CircleMembership(body: body, secrets: secrets, stored: stored, vaultEpoch: state.epoch)
            } catch {
                throw Self.damagedCircle
            }
        }
    }

    /// Makes the keys of a device that is not in a circle yet.
    func newMembership(_ name: String) throws(Refusal) -> CircleMembership {
        guard try state.withLock({ (state) throws(Refusal) in try circleContent(&state) == nil }) else { throw Self.alreadyInCircle }
        guard !name.isEmpty else { throw Refusal(.badParameter, "A device needs a name") }
        let identifier = try Keybag.randomBytes(16)
        return try Self.computed {
            let secrets = try CircleSecrets.make()
            return CircleMembership(body: CircleBody(me: try secrets.device(identifier, called: name)), secrets: secrets, stored: nil)
        }
    }

    /// Returns the stored part of a circle; nil if there is none, or this device has left the circle. Throws if it is damaged or of a later
    /// version.
    private func circleContent(_ state: inout VaultState) throws(Refusal) -> CircleContent? {
        state.applyExpirations(host)
        _ = try state.createIfNeeded(host)
        let bytes: [UInt8]?
        do throws(StateError) {
            bytes = try host.store.read(.circle, of: user, max: EnclaveLimits.circleBytesMax)
        } catch {
            throw Refusal(.storageFailed, "the circle's keys cannot be read: \(error)")
        }
        guard let bytes else { return nil }
        do {
            return try CircleKeybag(derBytes: StateEnvelope.open(bytes, name: .circle, user: user, backend: host.backend)).content
        } catch let error as DERError where error.newerVersion != nil {
            throw Self.newerCircle
        } catch {
            throw Self.damagedCircle
        }
    }

    // MARK: Writing

    /// Stores a changed part, unless another request has changed it meanwhile.
    func store(_ member: CircleMembership, document: [UInt8]? = nil, code: String? = nil) throws(Refusal) -> CircleOutcome {
        let body = try Self.encoded(member.body)
        // What could not be read again must not replace what can.
        guard (try? CircleBody(derBytes: body)) != nil else { throw Refusal(.internalError, "the circle's state exceeds a limit") }
        try state.withLock { (state) throws(Refusal) in
            guard try circleContent(&state) == member.stored else {
                throw Refusal(.unavailable, "The circle was changed meanwhile; run the command again")
            }
            let (bag, classKey) = try circleClassKey(&state)
            let (outer, changed) = try bag.keyForPrivateKeys(Self.circleClass, under: classKey)
            if changed != bag { try state.replaceKeybag(changed, host) }
            let content: CircleContent
            do throws(WrapError) {
                let context = circleContext(outer.generation, body)
                let wrapped = try KeyWrap.wrap(member.secrets.bytes, under: outer.key, label: CircleContent.label, context: context)
                content = CircleContent(generation: outer.generation, body: body, wrapped: wrapped)
            } catch {
                throw Refusal(.internalError, "the keys of the circle cannot be wrapped")
            }
            try host.write(CircleKeybag(content), to: .circle, user: user).throwIfUnsure()
        }
        return CircleOutcome(CircleReply(member.body.view, document: document, code: code))
    }

    /// Erases this device's part of the circle, even if it is damaged. Throws if there is none.
    func leave() throws(Refusal) -> CircleOutcome {
        try state.withLock { (state) throws(Refusal) in
            do throws(Refusal) {
                guard try circleContent(&state) != nil else { throw CircleMembership.notInCircle }
            } catch {
                guard error == Self.damagedCircle else { throw error }
            }
            try host.write(CircleKeybag(nil), to: .circle, user: user).throwIfUnsure()
        }
        return CircleOutcome(CircleReply(.none))
    }

    // MARK: Parts

    /// Returns the user's keybag, and its class key for the circle's keys. Throws while the device is locked or has no passcode.
    private func circleClassKey(_ state: inout VaultState) throws(Refusal) -> (Keybag, HeldKey) {
        let (bag, ring) = try state.createIfNeeded(host)
        guard bag.passcode != nil else {
            throw Refusal(.passcodeNotSet, "a device that shares items needs a passcode; run: vauban passcode set")
        }
        guard let current = bag.current(.protection(Self.circleClass)),
            let classKey = ring.key(.protection(Self.circleClass), generation: current.generation)
        else { throw Self.closed(ring) }
        return (bag, classKey)
    }

    /// Throws if this device cannot have a part of a circle, because it is locked or has no passcode.
    func checkMayKeepCircle() throws(Refusal) {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            _ = try circleClassKey(&state)
        }
    }

    private func circleContext(_ generation: [UInt8], _ body: [UInt8]) -> [UInt8] {
        host.backend.deviceIdentifier + withUnsafeBytes(of: user.bigEndian) { Array($0) } + generation + CircleCodes.digest(body)
    }

    static var alreadyInCircle: Refusal {
        Refusal(
            .badParameter,
            "This device is in a circle already, or waits to join one; see: vauban sync status. To end that: vauban sync leave")
    }
    private static var newerCircle: Refusal {
        Refusal(.unsupported, "The circle's keys on this device were written by a later version of Vauban; install that version again")
    }
    private static var damagedCircle: Refusal {
        Refusal(.stateUnreadable, "the keys of the circle on this device are damaged; run vauban sync leave, then join again")
    }
}
