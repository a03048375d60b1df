// One application's own connection, handed on by keychaind: its private keys are used here, each use answered by the thread that
// read it.

import Enclave
import EnclaveWire
import Foundation
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes

/// `@unchecked Sendable`: `allowing` and `last` belong to the thread that serves the line; everything else is immutable or locked.
final class KeyConnection: CallerSession, ConnectionEntry, @unchecked Sendable {
    let room: EnclaveRoom
    let channel: Channel
    let caller: Peer
    let identity: CallerIdentity?
    var allowing: (RequestTrace, [UInt8])?
    private var last: Int64 = 0
    private let keys = ThreadMutex<[Int64: OpenedKey]>([:])
    private let ending = ThreadMutex(false)

    init(room: EnclaveRoom, channel: Channel, caller: Peer, identity: CallerIdentity?) {
        self.room = room
        self.channel = channel
        self.caller = caller
        self.identity = identity
    }

    func report(_ place: String) throws { try channel.send(header: try KeyReply.waitingForUser(place: place).encoded()) }

    func reportQueued() throws { try channel.send(header: try KeyReply.queued.encoded()) }

    /// Erases what a lock closed; the handles stay, and open again with their class.
    func erase(everything: Bool) {
        keys.withLock { keys in
            for (handle, key) in keys where everything || key.key.control.protection.availability == .unlocked {
                keys[handle] = OpenedKey(key: key.key)
            }
        }
    }

    func serve() {
        while true {
            guard let message = try? channel.receive(.idle) else { return }
            guard (try? answer(message)) ?? false else { return }
        }
    }

    /// Since when it waits for a request; nil while it works on one.
    var idleSince: UInt64? { channel.idleSince }
    /// Whether it was told to end, and is still there only for what had just come.
    var isEnding: Bool { ending.withLock { $0 } }

    func endWhenIdle() {
        ending.withLock { $0 = true }
        channel.endWhenIdle()
    }

    /// Answers one message; false ends the connection, since what follows bytes that were not understood means nothing.
    private func answer(_ message: consuming Message) throws -> Bool {
        let request: KeyRequest
        let secret = message.takeSecret()
        guard message.descriptors.isEmpty else { return try end("a descriptor came where none belongs") }
        do {
            request = try KeyRequest(derBytes: message.header)
        } catch let refusal as Refusal {
            try send(.refused(refusal))
            return true
        } catch let fault as AccessControl.Fault {
            try send(.refused(Refusal(.badParameter, fault.rawValue)))
            return true
        } catch {
            return try end("\(error)")
        }
        guard Self.count(secret) <= request.secretBytesMax else {
            return try end("a secret came with a request that takes none, or too long a one")
        }
        let vault = room.vault(of: caller.uid)
        // Completes what ended meanwhile, once the answer is out.
        defer { room.attend(to: vault) }
        let answer: Answer
        do throws(Refusal) { answer = try carryOut(request, secret, in: vault) } catch { answer = .reply(.refused(error)) }
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

    private func carryOut(_ request: KeyRequest, _ secret: borrowing SecretBytes?, in vault: Vault) throws(Refusal) -> Answer {
        switch request {
        case .make(let kind, let control):
            room.attend(to: vault)
            return .reply(.made(try vault.makeKey(kind, control, password: secret, for: requester(for: caller))))
        case .open(let key):
            room.attend(to: vault)
            // Everything of a key is bound to its outermost layer: that it comes off says that nothing was altered.
            _ = try vault.open(key, for: key.kind.does(.sign) ? .sign : .decapsulate)
            return .reply(.opened(try add(key)))
        case .close(let handle):
            keys.withLock { $0[handle] = nil }
            return .reply(.closed)
        case .use(let use):
            switch try result(of: use, secret, in: vault) {
            case .signature(let signature): return .reply(.signed(signature))
            case .shared(let shared): return .shared(shared)
            }
        }
    }

    private func add(_ key: EnclaveKey) throws(Refusal) -> Int64 {
        last += 1
        let handle = last
        let isAdded = keys.withLock { keys in
            guard keys.count < EnclaveLimits.openKeysMax else { return false }
            keys[handle] = OpenedKey(key: key)
            return true
        }
        guard isAdded else { throw Refusal(.unavailable, "too many keys are open on this connection; close some") }
        return handle
    }

    private func result(of use: KeyUse, _ password: borrowing SecretBytes?, in vault: Vault) throws(Refusal) -> KeyResult {
        guard let opened = keys.withLock({ $0[use.handle] }) else { throw Refusal(.badParameter, "no key has this handle") }
        if let open = opened.open(for: use.operation) {
            // What is in memory counts only while its class is open; to ask for that lets time do its work first.
            try vault.throwIfClosed(opened.key)
            return try open.use(use.input)
        }
        room.attend(to: vault)
        switch try vault.open(opened.key, for: use.operation) {
        case .opened(let secret):
            let open = try SoftwareKey(opened.key.kind, secret, for: use.operation)
            keep(open, of: opened.key, use, in: vault)
            return try open.use(use.input)
        case .layered(let opening):
            do throws(Refusal) {
                let secret = try finish(
                    opening, use.operation.promptOperation, password, use.reason, use.mayAsk, use.authorization, for: caller, in: vault)
                return try SoftwareKey(opened.key.kind, secret, for: use.operation).use(use.input)
            } catch {
                throw error.reason == .rowDamaged ? Refusal(.keyDamaged) : error
            }
        }
    }

    /// Keeps an opened key for the next use. A lock that came meanwhile has erased what was here, and finds nothing to erase later.
    private func keep(_ open: SoftwareKey, of key: EnclaveKey, _ use: KeyUse, in vault: Vault) {
        keys.withLock { $0[use.handle]?.take(open, for: use.operation) }
        if (try? vault.throwIfClosed(key)) == nil { keys.withLock { $0[use.handle] = OpenedKey(key: key) } }
    }
}

/// A key with a handle. Those that ask for nothing are kept open, for each operation apart.
private struct OpenedKey: Sendable {
    let key: EnclaveKey
    private var signing: SoftwareKey?
    private var agreeing: SoftwareKey?

    init(key: EnclaveKey) { self.key = key }

    func open(for operation: KeyOperation) -> SoftwareKey? { operation == .sign ? signing : agreeing }

    mutating func take(_ open: SoftwareKey, for operation: KeyOperation) {
        // Those over lattices are large, and are made anew for each use.
        guard key.kind == .p256 else { return }
        if operation == .sign { signing = open } else { agreeing = open }
    }
}

extension KeyRequest {
    /// As long as the application's password may be that comes with it.
    fileprivate var secretBytesMax: Int {
        switch self {
        case .make(_, let control): control.needsApplicationPassword ? EnclaveLimits.applicationPasswordBytesMax : 0
        case .use: EnclaveLimits.applicationPasswordBytesMax
        case .open, .close: 0
        }
    }
}
