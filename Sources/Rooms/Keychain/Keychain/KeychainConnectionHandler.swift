// One connection to keychaind (Specs/keychain-wire.md). Requests are served in order, on the thread that read them.

internal import EnclaveWire
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomHardening
internal import VaubanSecretBytes
internal import VaubanRoomLog

package struct KeychainConnectionHandler: Sendable {
    private let services: KeychainServices
    private let enclaveAddress: ServerAddress
    /// Root's grants; nil in user mode, where programs are not distinguished.
    private let entitlements: EntitlementTable?
    private let admission: Admission
    private let holders: StateHolders
    private let log: BoundedLog
    private let clock: @Sendable () -> UInt64

    /// Creates a handler. `holders` maps folders to users; it and `admission` are used in system mode only.
    /// - Parameter clock: The monotonic clock, in nanoseconds.
    package init(
        services: KeychainServices, enclave: ServerAddress, entitlements: EntitlementTable?, admission: Admission = Admission(),
        holders: StateHolders, clock: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic }
    ) {
        self.clock = clock
        self.services = services
        enclaveAddress = enclave
        self.entitlements = entitlements
        self.admission = admission
        self.holders = holders
        log = BoundedLog(services.logger, accounts: admission.accounts)
    }

    /// What was determined about a caller before anything was sent to it.
    struct CallerSnapshot {
        let enclave: RemoteEnclave
        let caller: Caller
        /// Why the caller may not use the service. It is the reply to the first request.
        var refusal: Refusal?
    }

    func snapshot(of peer: Peer, on socket: Descriptor) throws -> CallerSnapshot {
        let enclave = RemoteEnclave(
            address: enclaveAddress, socket: socket, peer: peer, accounts: entitlements == nil ? nil : admission.accounts,
            leasedKeys: services.leasedKeys)
        guard let entitlements else { return CallerSnapshot(enclave: enclave, caller: Caller(user: peer.uid)) }
        if let refusal = refusal(of: peer.uid) { return refusedSnapshot(of: peer, refusal, enclave: enclave) }
        do {
            let identity = try enclave.identify()
            // A program that could not be identified must not get the reply that its items do not exist, since it might then create new
            // ones.
            guard identity != .unseen else { return refusedSnapshot(of: peer, Refusal(.unavailable, Self.unseen), enclave: enclave) }
            guard !identity.isOfReplacedProgram else {
                return refusedSnapshot(of: peer, Refusal(.unavailable, Self.replaced), enclave: enclave)
            }
            return CallerSnapshot(enclave: enclave, caller: Caller(user: peer.uid, identity: identity, granted: entitlements))
        } catch let refusal as Refusal {
            return refusedSnapshot(of: peer, refusal, enclave: enclave)
        } catch {
            throw HandshakeError.unproven("the enclave cannot say who the caller is")
        }
    }

    private static let unseen = "The calling program could not be identified at this moment; try again"
    private static let replaced = "This program, or a library that it uses, was replaced or deleted while it runs; start it again"

    /// Returns why a user may not use the service; nil if they may.
    private func refusal(of uid: UInt32) -> Refusal? {
        do throws(Refusal) {
            try admission.admit(uid)
            try holders.verify(uid)
            return nil
        } catch {
            return error
        }
    }

    private func refusedSnapshot(of peer: Peer, _ refusal: Refusal, enclave: RemoteEnclave) -> CallerSnapshot {
        log.refusal("a caller is refused", about: peer.uid, refusal)
        return CallerSnapshot(enclave: enclave, caller: Caller(user: peer.uid), refusal: refusal)
    }

    /// Accepts connections for as long as the process runs.
    package func run(_ server: ConnectionServer) throws(SystemError) -> Never {
        try server.run(
            snapshot: { try snapshot(of: $1, on: $0) },
            refused: { fault, uid in log.notice("a connection is refused", about: uid, ["why": "\(fault)"]) },
            serve: { serve($0, $1) })
    }

    /// Serves a connection until it ends. An error ends only this connection.
    private func serve(_ connection: AcceptedConnection, _ snapshot: CallerSnapshot) {
        let sink = ChannelSink(channel: connection.channel, clock: clock)
        let enclave = snapshot.enclave
        if let refusal = snapshot.refusal {
            if (try? connection.channel.receive(.machine)) != nil { try? sink.send(.refused(refusal)) }
            // Shut down, not only close: an enclave that does not respond may still hold the duplicate from the registration.
            return connection.channel.shutDown()
        }
        enclave.onWaitingForUser = { place in try sink.send(.waitingForUser(place)) }
        enclave.onQueued = { try sink.send(.queued) }
        // A caller who hangs up ends a request at any point, and the stack outlasts its thread.
        defer { ScratchMemory.scrubStack() }
        while let end = serveNext(on: connection, caller: snapshot.caller, enclave: enclave, sink: sink) {
            ScratchMemory.scrubStack()
            switch end {
            case .answered: continue
            case .refused(let refusal):
                guard (try? sink.send(.refused(refusal))) != nil else { return }
            case .malformed(let detail):
                _ = try? sink.send(.refused(Refusal(.malformed, detail)))
                return
            }
        }
    }

    /// Passes the connection to the enclave, which reads the next message. This room sends nothing more on it.
    private func handOver(caller: Caller, enclave: RemoteEnclave, sink: ChannelSink) throws {
        try RequestInProgress.throwIfDenied(caller.entitlements)
        try enclave.handOver()
        try sink.send(.handedOver)
    }

    private enum Outcome {
        case answered
        /// A refusal is sent, and the connection stays open.
        case refused(Refusal)
        /// A refusal is sent, and the connection ends.
        case malformed(String)
    }

    /// Serves one request. Returns nil if the caller has hung up.
    private func serveNext(on connection: AcceptedConnection, caller: Caller, enclave: RemoteEnclave, sink: ChannelSink) -> Outcome? {
        do {
            var message = try connection.channel.receive(.idle)
            guard message.descriptors.isEmpty else { return .malformed("a descriptor came where none belongs") }
            let request = try KeychainRequest(derBytes: message.header)
            let value = message.takeSecret()
            try sink.reportLateness(before: request)
            if request == .handOver {
                try handOver(caller: caller, enclave: enclave, sink: sink)
                return nil
            }
            enclave.authorization = request.authorization
            try RequestInProgress.serve(request, value: value, of: caller, services: services, enclave: enclave, to: sink)
            sink.isDone()
            return .answered
        } catch let refusal as Refusal {
            if [.disk, .machine].contains(refusal.blame) { log.refusal("a request failed", about: caller.user, refusal) }
            return refusal.reason == .malformed ? .malformed(refusal.detail ?? "") : .refused(refusal)
        } catch let fault as ChannelError {
            return fault.outcome.map(Outcome.malformed)
        } catch is CallerHungUp {
            return nil
        } catch let fault as DERError {
            return .malformed(fault.description)
        } catch let fault as AccessControlError {
            return .malformed(fault.rawValue)
        } catch let fault as SystemError {
            log.error("a request failed", about: caller.user, ["why": "\(fault.description)"])
            return .refused(Refusal(.internalError))
        } catch {
            return .malformed("the message is not strict DER")
        }
    }
}

extension ChannelError {
    /// The detail for a caller that violated the protocol; nil if the caller has hung up.
    fileprivate var outcome: String? {
        switch self {
        case .oversized: "the message is too large"
        case .malformed(let detail): detail
        case .foreignSender: "another process wrote on this connection"
        case .deadline: "the message did not end in time"
        case .closed, .watchedEnded, .system: nil
        }
    }
}

/// Sends replies over a connection. Only the thread that serves the connection uses it.
final class ChannelSink: ReplySink {
    private let channel: Channel
    private let clock: @Sendable () -> UInt64
    /// When the last reply was sent, and whether the thread was busy for so long afterwards that the next request may have waited.
    private var sent: UInt64
    private var isLate = false

    init(channel: Channel, clock: @escaping @Sendable () -> UInt64) {
        self.channel = channel
        self.clock = clock
        sent = clock()
    }

    var connection: Descriptor? { channel.socket }

    func send(_ reply: KeychainReply) throws {
        // Scrubs the stack before the caller gets the reply, since a lock that follows may rely on that.
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded())
        sent = clock()
    }

    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws {
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded(), secret: value)
        sent = clock()
    }

    /// Sends both messages in one write, so that the caller wakes once and one stack is scrubbed.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        let (header, end) = (try reply.encoded(), try KeychainReply.done.encoded())
        ScratchMemory.scrubStack()
        try channel.send(header: header, secret: value, followedBy: end)
        sent = clock()
    }

    /// Notes that the thread has done everything that follows its reply, such as reporting the end of the log to the enclave.
    func isDone() { isLate = clock() - sent >= KeychainLimits.silenceMax }

    /// Tells the caller that the request goes on, if it may have come while the thread was busy.
    func reportLateness(before request: KeychainRequest) throws {
        // Its connection has served nothing yet, and its caller waits for one reply.
        guard isLate, request != .handOver else { return }
        isLate = false
        try send(.queued)
    }
}
