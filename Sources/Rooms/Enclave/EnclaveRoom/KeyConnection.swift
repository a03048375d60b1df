// An application's own connection, passed on by keychaind. It uses private keys here; the thread that reads a request also answers it.

import Enclave
import EnclaveWire
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes
import VaubanUserModel

/// `@unchecked Sendable`: only the thread that serves the connection uses `allowing`, `last` and the counters; everything else is immutable
/// or has a lock.
final class KeyConnection: CallerConnection, ConnectionEntry, @unchecked Sendable {
    let room: EnclaveRoom
    let channel: Channel
    let caller: Peer
    let identity: CallerIdentity?
    var allowing: (RequestTrace, [UInt8])?
    private var last: Int64 = 0
    /// The counter of the uses of each key, by the key's identifier, and one for further keys.
    private var counters: [[UInt8]: KeyUseCounter] = [:]
    private var further: KeyUseCounter?
    private let keys = ThreadMutex<[Int64: OpenedKey]>([:])
    private let held = ThreadMutex(HeldAnswers<AuthorizedEvidence>())
    private let ending = ThreadMutex(false)

    init(room: EnclaveRoom, channel: Channel, caller: Peer, identity: CallerIdentity?) {
        self.room = room
        self.channel = channel
        self.caller = caller
        self.identity = identity
    }

    func report(_ place: String) throws { try channel.send(header: try KeyReply.waitingForUser(place: place).encoded()) }

    func reportQueued() throws { try channel.send(header: try KeyReply.queued.encoded()) }

    /// Erases the open keys of the when-unlocked classes, or of all classes, and the answers that held. The handles stay valid, and open
    /// their keys again once their class is unlocked.
    func erase(everything: Bool) {
        held.withLock { $0.removeAll() }
        keys.withLock { keys in
            for (handle, key) in keys where everything || key.key.control.protection.availability == .unlocked {
                keys[handle] = OpenedKey(key: key.key, uses: key.uses)
            }
        }
    }

    func serve() {
        while true {
            do throws(ChannelError) {
                let message = try channel.receive(untilNextEnd)
                guard (try? answer(message)) ?? false else { return }
            } catch {
                guard case .deadline = error else { return }
                held.withLock { $0.removeEnded(at: room.host.clock.boot) }
                ScratchMemory.scrubStack()
            }
        }
    }

    /// Waits for a request only until an answer stops holding, so that its evidence is erased then.
    private var untilNextEnd: Timeout {
        let now = room.host.clock.boot
        return held.withLock { $0.nextEnd }.map { .idleUntilDue($0 > now ? $0 - now : 0) } ?? .idle
    }

    /// When the connection began to wait for a request, in nanoseconds of the monotonic clock; nil while it handles one.
    var idleSince: UInt64? { channel.idleSince }
    /// Whether the connection is ending and only completes the request that had just arrived.
    var isEnding: Bool { ending.withLock { $0 } }

    func endWhenIdle() {
        ending.withLock { $0 = true }
        channel.endWhenIdle()
    }

    /// Answers one message. Returns false to end the connection, since after bytes that cannot be decoded nothing that follows can be
    /// interpreted.
    private func answer(_ message: consuming Message) throws -> Bool {
        let request: KeyRequest
        let secret = message.takeSecret()
        let descriptors = message.descriptors
        do {
            request = try KeyRequest(derBytes: message.header)
        } catch let refusal as Refusal {
            try send(.refused(refusal))
            return true
        } catch let error as AccessControlError {
            try send(.refused(Refusal(.badParameter, error.sentence)))
            return true
        } catch {
            return try end("\(error)")
        }
        guard Self.count(secret) <= request.secretBytesMax else {
            return try end("the request must not carry a secret, or its secret is too long")
        }
        guard descriptors.count == request.descriptorCount else { return try end("the request has the wrong number of descriptors") }
        let vault = room.vault(of: caller.uid)
        // Applies, after the reply, whatever expired or ended meanwhile.
        defer { room.applyEffects(of: vault) }
        let answer: Answer
        do throws(Refusal) { answer = try handle(request, secret: secret, descriptors: descriptors, in: vault) } catch {
            answer = .reply(.refused(error))
        }
        switch answer {
        case .reply(let reply): try send(reply)
        case .shared(let shared):
            ScratchMemory.scrubStack()
            try channel.send(header: try KeyReply.shared.encoded(), secret: shared)
        }
        return true
    }

    private static func count(_ secret: borrowing SecretBytes?) -> Int {
        switch secret {
        case .none: 0
        case .some(let secret): secret.count
        }
    }

    private func end(_ why: String) throws -> Bool {
        try send(.refused(Refusal(.malformed, why)))
        return false
    }

    private func send(_ reply: KeyReply) throws {
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded())
    }

    // MARK: The requests

    private enum Answer: ~Copyable {
        case reply(KeyReply)
        case shared(SecretBytes)
    }

    private func handle(
        _ request: KeyRequest, secret: borrowing SecretBytes?, descriptors: [Descriptor], in vault: Vault
    ) throws(Refusal) -> Answer {
        switch request {
        case .make(let kind, let control):
            room.applyEffects(of: vault)
            return .reply(.made(try vault.makeKey(kind, control, password: secret, for: requester(for: caller))))
        case .open(let key):
            room.applyEffects(of: vault)
            // Everything about a key is bound to its outermost layer, so if that opens, nothing was altered.
            _ = try vault.open(key, for: key.kind.supports(.sign) ? .sign : .decapsulate)
            return .reply(.opened(try add(key)))
        case .close(let handle):
            keys.withLock { $0[handle] = nil }
            return .reply(.closed)
        case .use(let use):
            switch try result(of: use, secret, descriptors, in: vault) {
            case .signature(let signature): return .reply(.signed(signature))
            case .shared(let shared): return .shared(shared)
            }
        }
    }

    private func add(_ key: EnclaveKey) throws(Refusal) -> Int64 {
        last += 1
        let handle = last
        let uses = counter(of: key)
        let isAdded = keys.withLock { keys in
            guard keys.count < EnclaveLimits.openKeysMax else { return false }
            keys[handle] = OpenedKey(key: key, uses: uses)
            return true
        }
        guard isAdded else { throw Refusal(.unavailable, "Too many keys are open on this connection; close some") }
        return handle
    }

    /// Returns the counter for a key on this connection.
    private func counter(of key: EnclaveKey) -> KeyUseCounter {
        if let known = counters[key.identifier] { return known }
        let ledger = room.keyUses.ledger
        guard counters.count < EnclaveLimits.countedKeysMax else {
            let shared = further ?? ledger.counter(of: nil, by: caller.uid, identity)
            further = shared
            return shared
        }
        let new = ledger.counter(of: key, by: caller.uid, identity)
        counters[key.identifier] = new
        return new
    }

    private func result(
        of use: KeyUse, _ password: borrowing SecretBytes?, _ descriptors: [Descriptor], in vault: Vault
    ) throws(Refusal) -> KeyResult {
        guard let opened = keys.withLock({ $0[use.handle] }) else { throw Refusal(.badParameter, "No key has this handle") }
        if let open = opened.open(for: use.operation) {
            // A key in memory may be used only while its class is unlocked. This check applies expirations first.
            try vault.checkClassIsOpen(opened.key)
            let result = try open.use(use.input)
            opened.uses.add(use.operation, .done)
            return result
        }
        room.applyEffects(of: vault)
        switch try vault.open(opened.key, for: use.operation) {
        case .opened(let secret):
            let open = try SoftwareKey(opened.key.kind, secret, for: use.operation)
            keep(open, of: opened, use, in: vault)
            let result = try open.use(use.input)
            opened.uses.add(use.operation, .done)
            return result
        case .layered(let opening):
            // If the prompt also requests an application password, its answer is for one use.
            let hold = opening.needsPassword ? nil : try offeredHold(of: use, by: opened.key, descriptors: descriptors, in: vault)
            do throws(Refusal) {
                let secret = try finish(opening, use, password: password, hold: hold, in: vault)
                let result = try SoftwareKey(opened.key.kind, secret, for: use.operation).use(use.input)
                opened.uses.add(use.operation, .approved)
                return result
            } catch {
                if let outcome = KeyUseOutcome(of: error) { opened.uses.add(use.operation, outcome) }
                throw error.reason == .rowDamaged ? Refusal(.keyDamaged) : error
            }
        }
    }

    /// Opens a key that needs the user. An answer that holds replaces the prompt, and a passcode entered at a prompt holds from then on. A
    /// fingerprint does not, since its touch is not bound to the text of the prompt.
    private func finish(
        _ opening: PendingOpening, _ use: KeyUse, password: borrowing SecretBytes?, hold: OfferedHold?, in vault: Vault
    ) throws(Refusal) -> SecretBytes {
        // Read before the prompt, since a lock voids earlier evidence.
        let epoch = vault.epoch
        let earlier = hold.flatMap { hold in held.withLock { $0.evidence(for: hold.scope, at: room.host.clock.boot) } }
        let gathered =
            earlier.flatMap(vault.evidence) ?? room.authorizations.evidence(use.authorization, for: caller, in: vault)
            ?? OperationEvidence()
        let secret = try finish(
            opening, as: use.operation.promptOperation, password: password, reason: use.reason, mayPrompt: use.mayPrompt,
            beginning: gathered,
            hold: hold?.notice, for: caller, in: vault)
        if let hold, gathered.hasPasscode, gathered.evidence.finger == nil { keep(gathered, hold, since: epoch, in: vault) }
        return secret
    }

    /// Keeps the evidence of an answer that holds. A lock that came meanwhile found nothing to erase, so the evidence is dropped here.
    private func keep(_ gathered: OperationEvidence, _ hold: OfferedHold, since epoch: Int64, in vault: Vault) {
        guard let evidence = try? vault.authorized(by: gathered, since: epoch) else { return }
        let end = room.host.clock.boot + UInt64(hold.notice.seconds) * 1_000_000_000
        held.withLock { $0.keep(evidence, for: hold.scope, until: end) }
        if vault.epoch != epoch { held.withLock { $0.removeAll() } }
    }

    /// Keeps an opened key for the next use. A lock that came meanwhile found nothing to erase, so the key is dropped here.
    private func keep(_ open: SoftwareKey, of opened: OpenedKey, _ use: KeyUse, in vault: Vault) {
        keys.withLock { $0[use.handle]?.keep(open, for: use.operation) }
        guard (try? vault.checkClassIsOpen(opened.key)) == nil else { return }
        keys.withLock { $0[use.handle] = OpenedKey(key: opened.key, uses: opened.uses) }
    }
}

extension KeyRequest {
    /// The maximum length of the application password in a request.
    fileprivate var secretBytesMax: Int {
        switch self {
        case .make(_, let control): control.needsApplicationPassword ? EnclaveLimits.applicationPasswordBytesMax : 0
        case .use: EnclaveLimits.applicationPasswordBytesMax
        case .open, .close: 0
        }
    }

    /// The number of descriptors that must accompany a request.
    fileprivate var descriptorCount: Int { if case .use(let use) = self, use.hold != nil { 2 } else { 0 } }
}
