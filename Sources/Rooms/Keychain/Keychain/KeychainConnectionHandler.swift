// One connection to keychaind (Specs/keychain-wire.md). Requests are served in order, on the thread that read them.

internal import EnclaveWire
internal import Logging
internal import VaubanAccessPolicy
internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
package import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanSecretBytes

package struct KeychainConnectionHandler: Sendable {
    private let parts: KeychainServices
    private let enclave: ServerAddress
    /// Nil in user mode, where programs are not told apart.
    private let entitlements: EntitlementTable?
    private let admission: Admission
    private let holders: StateHolders
    private let log: BoundedLog

    /// `holders` knows which user each folder belongs to. It and `admission` are used in system mode only.
    package init(
        parts: KeychainServices, enclave: ServerAddress, entitlements: EntitlementTable?, admission: Admission = Admission(),
        holders: StateHolders
    ) {
        self.parts = parts
        self.enclave = enclave
        self.entitlements = entitlements
        self.admission = admission
        self.holders = holders
        log = BoundedLog(parts.logger, accounts: admission.accounts)
    }

    /// What is known of a caller before anything is sent to it.
    struct CallerSnapshot {
        let line: RemoteEnclave
        let caller: Caller
        /// Why the caller may not use the service; the reply to its first request.
        var refusal: Refusal?
    }

    func look(_ socket: Descriptor, _ peer: Peer) throws -> CallerSnapshot {
        let line = RemoteEnclave(address: enclave, socket: socket, peer: peer, lent: parts.lent)
        guard let entitlements else { return CallerSnapshot(line: line, caller: Caller(user: peer.uid)) }
        if let refusal = refusal(of: peer.uid) { return refused(refusal, peer, line) }
        do {
            let identity = try line.identify()
            // If told that its items do not exist, a program that could not be identified might create new ones in their place.
            guard identity != .unseen else { return refused(Refusal(.unavailable, Self.unseen), peer, line) }
            return CallerSnapshot(line: line, caller: Caller(user: peer.uid, identity: identity, granted: entitlements))
        } catch let refusal as Refusal where [.notAllowedHere, .stateUnreadable].contains(refusal.reason) {
            return refused(refusal, peer, line)
        } catch {
            throw HandshakeError.unproven("the enclave cannot say who the caller is")
        }
    }

    private static let unseen = "the calling program could not be identified at this moment; try again"

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

    private func refused(_ refusal: Refusal, _ peer: Peer, _ line: RemoteEnclave) -> CallerSnapshot {
        log.notice("a user is refused", about: peer.uid, ["why": "\(refusal.detail ?? "")"])
        return CallerSnapshot(line: line, caller: Caller(user: peer.uid), refusal: refusal)
    }

    /// Accepts connections for as long as the process runs.
    package func run(_ doorway: ConnectionServer) throws(SystemError) -> Never {
        try doorway.run(
            snapshot: { try look($0, $1) },
            refused: { fault, uid in log.notice("a connection is refused", about: uid, ["why": "\(fault)"]) },
            serve: { serve($0, $1) })
    }

    /// Serves a connection until it ends. An error on one connection ends only that one.
    private func serve(_ visitor: AcceptedConnection, _ look: CallerSnapshot) {
        let sink = ChannelSink(channel: visitor.channel)
        let line = look.line
        if let refusal = look.refusal {
            if (try? visitor.channel.receive(.machine)) != nil { try? sink.send(.refused(refusal)) }
            return
        }
        line.onWaitingForUser = { place in try sink.send(.waitingForUser(place)) }
        line.onQueued = { try sink.send(.queued) }
        while let end = next(visitor, look.caller, line, sink) {
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

    /// Hands the connection to the enclave, which reads the next message; this room sends nothing more.
    private func handOver(_ caller: Caller, _ line: RemoteEnclave, _ sink: ChannelSink) throws {
        try RequestInProgress.throwIfDenied(caller)
        try line.handOver()
        try sink.send(.handedOver)
    }

    private enum Outcome {
        case answered
        /// The caller is told, and the connection goes on.
        case refused(Refusal)
        /// The caller is told, and the connection ends.
        case malformed(String)
    }

    /// Serves one request. Returns nil if the caller is gone.
    private func next(_ visitor: AcceptedConnection, _ caller: Caller, _ line: RemoteEnclave, _ sink: ChannelSink) -> Outcome? {
        do {
            var message = try visitor.channel.receive(.idle)
            guard message.descriptors.isEmpty else { return .malformed("a descriptor came where none belongs") }
            let request = try KeychainRequest(derBytes: message.header)
            let value = message.takeSecret()
            if request == .handOver {
                try handOver(caller, line, sink)
                return nil
            }
            line.authorization = request.authorization
            try RequestInProgress.serve(request, value: value, of: caller, parts: parts, enclave: line, to: sink)
            return .answered
        } catch let refusal as Refusal {
            return refusal.reason == .malformed ? .malformed(refusal.detail ?? "") : .refused(refusal)
        } catch let fault as ChannelError {
            return fault.outcome.map(Outcome.malformed)
        } catch is CallerHungUp {
            return nil
        } catch let fault as DERError {
            return .malformed(fault.description)
        } catch let fault as AccessControl.Fault {
            return .malformed(fault.rawValue)
        } catch let fault as SystemError {
            log.error("a request failed", about: caller.user, ["why": "\(fault.description)"])
            return .refused(Refusal(.internalFault))
        } catch {
            return .malformed("the message is not strict DER")
        }
    }
}

extension ChannelError {
    /// The detail for a caller that violated the protocol; nil if the caller is gone.
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

/// Sends replies over a connection.
struct ChannelSink: ReplySink {
    let channel: Channel

    func send(_ reply: KeychainReply) throws {
        // Scrubs before the caller sees the reply: a lock that follows it may rely on that.
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded())
    }

    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws {
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded(), secret: value)
    }

    /// Sends both in one write, which wakes the caller once and leaves one stack to scrub.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        let (header, end) = (try reply.encoded(), try KeychainReply.done.encoded())
        ScratchMemory.scrubStack()
        try channel.send(header: header, secret: value, followedBy: end)
    }
}
