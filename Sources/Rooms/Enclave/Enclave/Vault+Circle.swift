// Circles of devices that share synchronizable items (Specs/sync.md). The keys are made, wrapped and used here. A prompt comes before
// `approve`, `enter` and `remove`; the room shows it.

package import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
internal import VaubanLinuxHost
package import VaubanRefusal
import VaubanSecretBytes
package import VaubanSyncModel

package struct CircleOutcome: Sendable {
    package let reply: CircleReply
    /// The circle, if the request opened it.
    package let opened: OpenCircle?
}

extension Vault {
    /// Performs a request that needs no approval, or whose approval the user has given.
    package func circle(_ keybag: [UInt8]?, _ request: CircleRequest) throws(Refusal) -> CircleOutcome {
        switch request {
        case .begin(let name): return try begin(try newMembership(keybag, name))
        case .apply(let name): return try apply(try newMembership(keybag, name))
        case .answer(let commitment): return try answer(commitment, as: try membership(keybag))
        case .reveal(let answer): return try reveal(over: answer, as: try membership(keybag))
        case .approve(let reveal, let code): return try admit(try newcomer(keybag, reveal, code: code), to: try membership(keybag))
        case .enter(let statement, let code):
            return try stored(try entrance(keybag, statement, code: code).membership)
        case .remove(let device): return try remove(device, from: try membership(keybag))
        case .follow(let statement): return try stored(try membership(keybag).following(statement))
        case .view: return CircleOutcome(reply: CircleReply(try membership(keybag).body.view), opened: nil)
        case .open: return try open(try membership(keybag))
        case .sign(let digest):
            let member = try membership(keybag)
            guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
            let signature = try Self.computed { try member.secrets.sign(.file, circle + member.body.me.device + digest) }
            return CircleOutcome(reply: CircleReply(member.body.view, document: signature), opened: nil)
        }
    }

    /// Returns the name of the device of a join request, if the code is the one that it shows.
    package func nameOfNewcomer(_ keybag: [UInt8]?, _ reveal: [UInt8], code: String) throws(Refusal) -> String {
        try newcomer(keybag, reveal, code: code).device.name
    }

    /// Returns the name of the member who admits this device, if the code is the one that it shows.
    package func nameOfSponsor(_ keybag: [UInt8]?, _ statement: [UInt8], code: String) throws(Refusal) -> String {
        try entrance(keybag, statement, code: code).sponsor
    }

    package func nameOfMember(_ keybag: [UInt8]?, _ device: [UInt8]) throws(Refusal) -> String {
        guard let member = try membership(keybag).body.members.first(where: { $0.device == device }) else { throw Self.noSuchDevice }
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

    private static func checkMayLeave(_ row: RowBinding) throws(Refusal) {
        guard !row.protection.staysOnDevice, row.accessControl == nil else {
            throw Refusal(.notAllowedHere, "items that stay on their device, or have an access control, are not synchronized")
        }
    }

    // MARK: Members

    private func newMembership(_ keybag: [UInt8]?, _ name: String) throws(Refusal) -> CircleMembership {
        guard keybag == nil else { throw Refusal(.badParameter, "this device is in a circle already") }
        guard !name.isEmpty else { throw Refusal(.badParameter, "a device needs a name") }
        let identifier = try Keybag.randomBytes(16)
        return try Self.computed {
            let secrets = try CircleSecrets.make()
            return CircleMembership(body: CircleBody(me: try secrets.device(identifier, called: name)), secrets: secrets)
        }
    }

    private func begin(_ fresh: CircleMembership) throws(Refusal) -> CircleOutcome {
        var first = fresh
        first.body.circle = try Keybag.randomBytes(16)
        let (statement, next) = try first.stating([first.body.me], rolls: true)
        return try stored(next, document: statement)
    }

    private func remove(_ device: [UInt8], from member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard device != member.body.me.device else {
            throw Refusal(.badParameter, "A device does not remove itself; run vauban sync leave here, and remove it on another device")
        }
        let members = member.body.members.filter { $0.device != device }
        guard members.count < member.body.members.count else { throw Self.noSuchDevice }
        let (statement, next) = try member.stating(members, rolls: true)
        return try stored(next, document: statement)
    }

    private func open(_ member: CircleMembership) throws(Refusal) -> CircleOutcome {
        guard let circle = member.body.circle else { throw CircleMembership.notInCircle }
        let epoch = state.withLock { $0.epoch }
        let opened = try OpenCircle(member.body, member.secrets, circle: circle, at: epoch)
        return CircleOutcome(reply: CircleReply(member.body.view), opened: opened)
    }

    private static var noSuchDevice: Refusal { Refusal(.badParameter, "No such device in the circle; vauban sync status lists them") }

    // MARK: The keybag

    func stored(_ member: CircleMembership, document: [UInt8]? = nil, code: String? = nil) throws(Refusal) -> CircleOutcome {
        CircleOutcome(
            reply: CircleReply(member.body.view, keybag: try seal(member), document: document, code: code), opened: nil)
    }

    private func seal(_ member: CircleMembership) throws(Refusal) -> [UInt8] {
        let body = try Self.encoded(member.body)
        return try state.withLock { (state) throws(Refusal) -> [UInt8] in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard bag.passcode != nil else {
                throw Refusal(.passcodeNotSet, "a device that shares items needs a passcode; run: vauban passcode set")
            }
            guard let current = bag.current(.protection(Self.circleClass)),
                let classKey = ring.key(.protection(Self.circleClass), generation: current.generation)
            else { throw Self.closed(ring) }
            let (outer, changed) = try bag.keyForPrivateKeys(Self.circleClass, under: classKey)
            if changed != bag { try state.replaceKeybag(changed, host) }
            do throws(WrapError) {
                let context = circleContext(outer.generation, body)
                let wrapped = try KeyWrap.wrap(member.secrets.bytes, under: outer.key, label: CircleKeybag.label, context: context)
                return try Self.encodedKeybag(CircleKeybag(generation: outer.generation, body: body, wrapped: wrapped))
            } catch {
                throw Refusal(.internalError, "the keys of the circle cannot be wrapped")
            }
        }
    }

    func membership(_ keybag: [UInt8]?) throws(Refusal) -> CircleMembership {
        guard let keybag else { throw CircleMembership.notInCircle }
        let stored: CircleKeybag
        let body: CircleBody
        do {
            stored = try CircleKeybag(derBytes: keybag)
            body = try CircleBody(derBytes: stored.body)
        } catch {
            throw Refusal(.badParameter, "The keys of the circle on this device are damaged; run vauban sync leave, then join again")
        }
        return try state.withLock { (state) throws(Refusal) -> CircleMembership in
            state.applyExpirations(host)
            let (bag, ring) = try state.createIfNeeded(host)
            guard let current = bag.current(.protection(Self.circleClass)),
                let classKey = ring.key(.protection(Self.circleClass), generation: current.generation)
            else { throw Self.closed(ring) }
            let slot = bag.slots.first { $0.purpose == .privateKeys(Self.circleClass) && $0.generation == stored.generation }
            guard let slot else {
                throw Refusal(.notAllowedHere, "The keys of the circle are another device's; run vauban sync leave, then join again")
            }
            let outer = try bag.open(slot, with: classKey.key)
            do throws(WrapError) {
                let context = circleContext(stored.generation, stored.body)
                let opened = try KeyWrap.unwrap(stored.wrapped, under: outer, label: CircleKeybag.label, context: context)
                let secrets = CircleSecrets(opened)
                guard secrets.bytes.count == (2 + Int(body.epoch)) * CircleSecrets.keyBytes else { throw WrapError() }
                return CircleMembership(body: body, secrets: secrets)
            } catch {
                throw Refusal(.badParameter, "The keys of the circle on this device were altered; run vauban sync leave, then join again")
            }
        }
    }

    /// The class whose key wraps the circle's: open only while the device is unlocked, and never elsewhere.
    private static let circleClass = Protection.whenUnlockedThisDeviceOnly

    private func circleContext(_ generation: [UInt8], _ body: [UInt8]) -> [UInt8] {
        host.backend.deviceIdentifier + withUnsafeBytes(of: user.bigEndian) { Array($0) } + generation + CircleCodes.digest(body)
    }

    private static func encodedKeybag(_ keybag: CircleKeybag) throws(WrapError) -> [UInt8] {
        do { return try keybag.encoded() } catch { throw WrapError() }
    }

    /// Returns what the library computes from our own keys, which does not fail.
    static func computed<Value>(_ body: () throws -> Value) throws(Refusal) -> Value {
        do { return try body() } catch { throw Refusal(.internalError, "a key of the circle cannot be used") }
    }
}
