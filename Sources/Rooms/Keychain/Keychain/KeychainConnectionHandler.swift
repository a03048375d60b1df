// The door of keychaind (Specs/keychain-wire.md): one connection, its requests one after the other, each answered by the
// thread that read it.

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

package struct KeychainConnectionHandler: Sendable {
    private let parts: KeychainServices
    private let enclave: ServerAddress
    /// Nil in user mode, where programs are not told apart.
    private let entitlements: EntitlementTable?
    private let admission: Admission
    private let holders: StateHolders
    private let log: BoundedLog

    /// `holders` tells whose each user's folder is. It and `admission` are asked in system mode alone.
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

    /// What is known of a caller before it is sent a word.
    struct CallerSnapshot {
        let line: RemoteEnclave
        let caller: Caller
        /// Why the caller may not use the service at all: the answer to its first request.
        var refusal: Refusal?
    }

    func look(_ socket: Descriptor, _ peer: Peer) throws -> CallerSnapshot {
        let line = RemoteEnclave(address: enclave, socket: socket, peer: peer, lent: parts.lent)
        guard let entitlements else { return CallerSnapshot(line: line, caller: Caller(user: peer.uid)) }
        if let refusal = refusal(of: peer.uid) { return refused(refusal, peer, line) }
        do {
            let identity = try line.identify()
            // Nobody could look: to be told that its own items are not there, a program might make new ones in their place.
            guard identity != .unseen else { return refused(Refusal(.unavailable, Self.unseen), peer, line) }
            return CallerSnapshot(line: line, caller: Caller(user: peer.uid, identity: identity, granted: entitlements))
        } catch let refusal as Refusal where [.notAllowedHere, .stateUnreadable].contains(refusal.reason) {
            return refused(refusal, peer, line)
        } catch {
            throw HandshakeError.unproven("the enclave cannot say who the caller is")
        }
    }

    private static let unseen = "which program asks could not be found out at this moment; try again"

    /// Why a user may not use the service; nil where they may.
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

    /// Serves every connection for as long as the process lives.
    package func run(_ doorway: ConnectionServer) throws(SystemError) -> Never {
        try doorway.run(
            look: { try look($0, $1) },
            refused: { fault, uid in log.notice("a connection was refused", about: uid, ["why": "\(fault)"]) },
            serve: { serve($0, $1) })
    }

    /// Serves a connection until it ends. What is wrong with one connection ends that one only.
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

    /// From here on the connection is the enclave's: it reads the next message, and this room says nothing more.
    private func handOver(_ caller: Caller, _ line: RemoteEnclave, _ sink: ChannelSink) throws {
        try RequestInProgress.throwIfDenied(caller)
        try line.handOver()
        try sink.send(.handedOver)
    }

    private enum Outcome {
        case answered
        /// The caller is told, and may go on.
        case refused(Refusal)
        /// The caller is told, and the connection ends.
        case malformed(String)
    }

    /// One request; nil when there is nobody to answer any more.
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
    /// What to say to a caller that broke the rules; nil when nobody would hear it.
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

/// Replies over a connection.
struct ChannelSink: ReplySink {
    let channel: Channel

    func send(_ reply: KeychainReply) throws {
        // Before the caller hears it: whoever locks next may rely on it.
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded())
    }

    func send(_ reply: KeychainReply, value: borrowing SecretBytes) throws {
        ScratchMemory.scrubStack()
        try channel.send(header: try reply.encoded(), secret: value)
    }

    /// In one go, which wakes the caller once and leaves one stack to overwrite.
    func finish(_ reply: KeychainReply, value: borrowing SecretBytes?) throws {
        let (header, end) = (try reply.encoded(), try KeychainReply.done.encoded())
        ScratchMemory.scrubStack()
        try channel.send(header: header, secret: value, followedBy: end)
    }
}
