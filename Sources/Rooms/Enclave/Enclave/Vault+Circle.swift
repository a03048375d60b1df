// Circles of devices that share synchronizable items (Specs/sync.md). Their keys and state are made, stored and used here, so that an
// earlier state cannot be restored from outside. The room prompts the user before a device is admitted, enters or is removed, before a
// companion's list changes, before a token is made or redeemed, and before a recovery key is made, used or ended.

package import EnclaveWire
import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSyncModel
package import VaubanUserModel

package struct CircleOutcome: Sendable {
    package let reply: CircleReply
    /// The circle, if the request opened it.
    package let opened: OpenCircle?
    /// The keys of a companion's files, if the request was for them.
    package let files: OpenCircle.CompanionFiles?
    /// The seed of the token's key, if the request made a token.
    package let seed: TokenSeed?
    /// The recovery key, if the request made or confirmed it.
    package let recoveryKey: CircleRecoveryKey?
    /// The circle of a recovery key, if the request found or followed it.
    package let recovering: CircleRecovery?

    init(
        _ reply: CircleReply, opened: OpenCircle? = nil, files: OpenCircle.CompanionFiles? = nil, seed: TokenSeed? = nil,
        recoveryKey: CircleRecoveryKey? = nil, recovering: CircleRecovery? = nil
    ) {
        self.reply = reply
        self.opened = opened
        self.files = files
        self.seed = seed
        self.recoveryKey = recoveryKey
        self.recovering = recovering
    }
}

extension Vault {
    /// Performs a request.
    /// - Parameter isApproved: Whether the user has approved the request, if it needs that.
    /// - Parameter secret: The seed of the token, to redeem one; the recovery key, to find its circle.
    /// - Parameter recovering: The circle of a recovery key, as far as it has been followed.
    /// - Parameter recoveryKey: The recovery key that was made on the same connection, to confirm it.
    /// - Parameter card: The card of the key to which answers to prompts are sealed, for a request that signs it.
    package func circle(
        _ request: CircleRequest, isApproved: Bool, secret: borrowing SecretBytes? = nil, recovering: CircleRecovery? = nil,
        recoveryKey: CircleRecoveryKey? = nil, card: EnclaveKeyCard? = nil
    ) throws(Refusal) -> CircleOutcome {
        switch request {
        // A device that is already admitted needs no prompt to be admitted again.
        case .approve, .admitCompanion: break
        default: guard isApproved || !request.mayWaitForUser else { throw Refusal(.cancelled) }
        }
        switch request {
        case .begin(let name): return try begin(try newMembership(name))
        case .apply(let name): return try apply(name)
        case .answer(let commitment): return try answer(commitment, as: try circleMember())
        case .reveal(let answer): return try reveal(over: answer, as: try membership())
        case .approve(let reveal, let code): return try admit(try newcomer(reveal, code: code), as: nil, isApproved: isApproved)
        case .admitCompanion(let reveal, let code, let names, _):
            return try admit(try newcomer(reveal, code: code), as: names, isApproved: isApproved)
        case .allow(let device, let names, _): return try change(device, in: try circleMember()) { BlindedNames($0.all + names.all) }
        case .disallow(let device, let names, _):
            return try change(device, in: try circleMember()) { list in BlindedNames(list.all.filter { !names.contains($0) }) }
        case .companionFiles(let device): return try companionFiles(device, of: try circleMember())
        case .enter(let statement, let code): return try store(try entrance(statement, code: code).membership)
        case .remove(let device): return try remove(device, from: try circleMember())
        case .follow(let statement): return try store(try membership().following(statement))
        case .view:
            let member = try membership()
            return CircleOutcome(CircleReply(member.body.view, document: member.body.statement ?? member.body.redemption?.request))
        case .open: return try open(try membership())
        case .sign(let digest):
            let member = try circleMember()
            guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
            let signature = try Self.computed { try member.secrets.sign(.file, circle + member.body.me.device + digest) }
            return CircleOutcome(CircleReply(member.body.view, document: signature))
        case .signKeyCard(let digest):
            guard let card else { throw Refusal(.internalError, "there is no key card") }
            return try sign(card, with: digest, as: try membership())
        case .leave: return try leave()
        case .makeToken(let name, let seconds, let names, _):
            return try makeToken(name, lasting: seconds, for: names, as: try circleMember())
        case .redeem(let token): return try redeem(token, seed: secret)
        case .admitByToken(let request): return try admit(byToken: request, as: try circleMember())
        case .enterByToken(let statement): return try enter(byToken: statement)
        case .revokeToken(let verification): return try revokeToken(verification, as: try circleMember())
        case .makeRecoveryKey: return try makeRecoveryKey(as: try circleMember())
        case .confirmRecoveryKey: return try confirm(recoveryKey, as: try circleMember())
        case .endRecoveryKey: return try endRecoveryKey(as: try circleMember())
        case .findByRecoveryKey(let statement): return try find(statement, byRecoveryKey: secret)
        case .followByRecoveryKey(let statement): return try follow(statement, byRecoveryKey: recovering)
        case .enterByRecoveryKey(let name): return try enter(byRecoveryKey: name, recovering)
        }
    }

    package func nameOfDevice(_ device: [UInt8]) throws(Refusal) -> String {
        guard let found = try circleMember().body.device(device) else { throw Self.noSuchDevice }
        return found.name
    }

    // MARK: Items

    /// Returns the item key of a row, wrapped for the circle's other devices. Throws if the item may not leave the device.
    package func sealForCircle(_ row: RowBinding, wrapped: [UInt8], in circle: OpenCircle) throws(Refusal) -> SealedItemKey {
        try Self.checkMayLeave(row)
        return try backUp(row, wrapped: wrapped, into: try circle.sending())
    }

    /// Returns the keys of an item that another device of the circle wrote.
    package func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64, in circle: OpenCircle) throws(Refusal) -> BackupItemKeys
    {
        try Self.checkMayLeave(row)
        return try restoreKeys(row, wrapped: wrapped, from: try circle.receiving(epoch))
    }

    /// Returns the key that blinds the names of items; nil on a companion. Unlike the circle key, it never changes, since the blinded names
    /// must stay the same.
    package func circleNames(of circle: OpenCircle) throws(Refusal) -> SecretBytes? {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            try Self.check(try circle.receiving(1), state)
        }
        return circle.nameKey()
    }

    static func checkMayLeave(_ row: RowBinding) throws(Refusal) {
        guard !row.protection.staysOnDevice, row.accessControl == nil else {
            throw Refusal(.notAllowedHere, "Items that stay on their device, or have an access control, are not synchronized")
        }
    }

    // MARK: Members

    private func begin(_ fresh: CircleMembership) throws(Refusal) -> CircleOutcome {
        var first = fresh
        first.body.circle = try Keybag.randomBytes(16)
        let (statement, next) = try first.makeStatement(members: [first.body.me], companions: [], rolls: true)
        return try store(next, document: statement)
    }

    private func remove(_ device: [UInt8], from member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard device != member.body.me.device else {
            throw Refusal(.badParameter, "A device does not remove itself; run vauban sync leave here, and remove it on another device")
        }
        let members = member.body.members.filter { $0.device != device }
        let companions = member.body.companions.filter { $0.device.device != device }
        guard member.body.device(device) != nil else { throw Self.noSuchDevice }
        let (statement, next) = try member.makeStatement(members: members, companions: companions, rolls: true)
        return try store(next, document: statement)
    }

    private func open(_ member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let opened = try OpenCircle(member.body, member.secrets, circle: circle, at: member.vaultEpoch)
        return CircleOutcome(CircleReply(member.body.view), opened: opened)
    }

    /// Signs the card for the other devices, which seal a passcode only to a key with a signed card. A companion may do this too, so that
    /// other devices can answer its prompts.
    private func sign(_ card: EnclaveKeyCard, with digest: [UInt8], as member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let signature = try Self.computed {
            try member.secrets.sign(.keyCard, circle + member.body.me.device + card.publicKey + digest)
        }
        return CircleOutcome(CircleReply(member.body.view, document: card.publicKey + signature))
    }

    static var noSuchDevice: Refusal { Refusal(.badParameter, "No such device in the circle; vauban sync status lists them") }

    /// Returns the result of a computation with this device's own keys, which is not expected to fail.
    static func computed<Value>(_ body: () throws -> Value) throws(Refusal) -> Value {
        do { return try body() } catch { throw Refusal(.internalError, "a key of the circle cannot be used") }
    }
}
