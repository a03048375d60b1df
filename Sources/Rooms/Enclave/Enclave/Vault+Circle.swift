// Circles of devices that share synchronizable items (Specs/sync.md). The keys and the state are made, kept and used here, so that nobody
// can put back an earlier state. A prompt comes before `approve`, `enter` and `remove`; the room shows it.

package import EnclaveWire
import VaubanAccessPolicy
internal import VaubanLinuxHost
package import VaubanRefusal
package import VaubanSecretBytes
package import VaubanSyncModel

package struct CircleOutcome: Sendable {
    package let reply: CircleReply
    /// The circle, if the request opened it.
    package let opened: OpenCircle?

    init(_ reply: CircleReply, opened: OpenCircle? = nil) {
        self.reply = reply
        self.opened = opened
    }
}

extension Vault {
    /// Performs a request.
    /// - Parameter isApproved: Whether the user has approved it, if it needs that.
    package func circle(_ request: CircleRequest, isApproved: Bool) throws(Refusal) -> CircleOutcome {
        if case .approve = request {} else if request.mayWaitForUser, !isApproved { throw Refusal(.cancelled) }
        switch request {
        case .begin(let name): return try begin(try newMembership(name))
        case .apply(let name): return try apply(name)
        case .answer(let commitment): return try answer(commitment, as: try membership())
        case .reveal(let answer): return try reveal(over: answer, as: try membership())
        case .approve(let reveal, let code): return try admit(try newcomer(reveal, code: code), isApproved: isApproved)
        case .enter(let statement, let code): return try store(try entrance(statement, code: code).membership)
        case .remove(let device): return try remove(device, from: try membership())
        case .follow(let statement): return try store(try membership().following(statement))
        case .view:
            let member = try membership()
            return CircleOutcome(CircleReply(member.body.view, document: member.body.statement))
        case .open: return try open(try membership())
        case .sign(let digest):
            let member = try membership()
            guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
            let signature = try Self.computed { try member.secrets.sign(.file, circle + member.body.me.device + digest) }
            return CircleOutcome(CircleReply(member.body.view, document: signature))
        case .leave: return try leave()
        }
    }

    package func nameOfMember(_ device: [UInt8]) throws(Refusal) -> String {
        guard let member = try membership().body.members.first(where: { $0.device == device }) else { throw Self.noSuchDevice }
        return member.name
    }

    // MARK: Items

    /// Returns the item key of a row, wrapped for the circle's other devices. Only an item that may leave the device has such a key.
    package func sealForCircle(_ row: RowBinding, wrapped: [UInt8], in circle: OpenCircle) throws(Refusal) -> SealedItemKey {
        try Self.checkMayLeave(row)
        return try backUp(row, wrapped: wrapped, into: circle.sending())
    }

    /// Returns the keys of an item that another device of the circle wrote.
    package func circleItemKeys(_ row: RowBinding, wrapped: [UInt8], epoch: Int64, in circle: OpenCircle) throws(Refusal) -> BackupItemKeys
    {
        try Self.checkMayLeave(row)
        return try restoreKeys(row, wrapped: wrapped, from: try circle.receiving(epoch))
    }

    /// Returns the key that blinds the names of items. Unlike the circle key it stays the same, since the names must.
    package func circleNames(of circle: OpenCircle) throws(Refusal) -> SecretBytes {
        try state.withLock { (state) throws(Refusal) in
            state.applyExpirations(host)
            try Self.check(circle.sending(), state)
        }
        return circle.nameKey()
    }

    private static func checkMayLeave(_ row: RowBinding) throws(Refusal) {
        guard !row.protection.staysOnDevice, row.accessControl == nil else {
            throw Refusal(.notAllowedHere, "items that stay on their device, or have an access control, are not synchronized")
        }
    }

    // MARK: Members

    private func begin(_ fresh: CircleMembership) throws(Refusal) -> CircleOutcome {
        var first = fresh
        first.body.circle = try Keybag.randomBytes(16)
        let (statement, next) = try first.stating([first.body.me], rolls: true)
        return try store(next, document: statement)
    }

    private func remove(_ device: [UInt8], from member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard device != member.body.me.device else {
            throw Refusal(.badParameter, "A device does not remove itself; run vauban sync leave here, and remove it on another device")
        }
        let members = member.body.members.filter { $0.device != device }
        guard members.count < member.body.members.count else { throw Self.noSuchDevice }
        let (statement, next) = try member.stating(members, rolls: true)
        return try store(next, document: statement)
    }

    private func open(_ member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let opened = try OpenCircle(member.body, member.secrets, circle: circle, at: member.vaultEpoch)
        return CircleOutcome(CircleReply(member.body.view), opened: opened)
    }

    private static var noSuchDevice: Refusal { Refusal(.badParameter, "No such device in the circle; vauban sync status lists them") }

    /// Returns what the library computes from our own keys, which does not fail.
    static func computed<Value>(_ body: () throws -> Value) throws(Refusal) -> Value {
        do { return try body() } catch { throw Refusal(.internalError, "a key of the circle cannot be used") }
    }
}
