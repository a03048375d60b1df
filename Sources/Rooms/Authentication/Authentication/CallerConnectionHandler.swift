internal import EnclaveConnection
internal import EnclaveWire
internal import Logging
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserWire
import VaubanRoomLog

/// One caller's connection, on the thread that the door gave it. It decides nothing: requests go to the enclave, and the
/// enclave's replies go back.
struct CallerConnectionHandler {
    private let visitor: AcceptedConnection
    private let desk: PromptDispatcher
    private let log: BoundedLog
    private let enclave: EnclaveClient

    init(visitor: AcceptedConnection, desk: PromptDispatcher, enclave: EnclaveClient, log: BoundedLog) {
        self.visitor = visitor
        self.desk = desk
        self.log = log
        self.enclave = enclave
    }

    func serve() {
        // Shut down, not only closed: the enclave may still hold the duplicate that it was registered with.
        defer {
            enclave.close()
            visitor.channel.shutDown()
        }
        do {
            while true {
                let message = try visitor.channel.receive(.idle)
                guard message.secret == nil, message.descriptors.isEmpty else { throw DERError("a request carries nothing beside it") }
                let request: UserRequest
                do {
                    request = try UserRequest(derBytes: message.header)
                } catch let refusal as Refusal {
                    try reply(.refused(refusal))
                    continue
                }
                try answer(request)
            }
        } catch ChannelError.closed, EnclaveError.callerGone {
            return
        } catch {
            log.notice("a connection is ended", about: visitor.peer.uid, ["why": "\(error)"])
            // The other side may be gone already, which ends the connection just as well.
            try? reply(.refused(ConnectionRefusal.refusal(error)))
        }
    }

    /// Answers one request. It throws only what ends the caller's connection; a fault of the enclave's is an answer.
    private func answer(_ request: UserRequest) throws {
        do {
            let answer = try outcome(of: request)
            // What was authorized stands for as long as the connection does.
            if request.mayWaitForUser, case .user(.evaluated) = answer.reply { visitor.stay() }
            try reply(finalReply(to: request, from: answer.reply), descriptors: answer.descriptors)
        } catch let fault as EnclaveError {
            if case .callerGone = fault { throw fault }
            log.notice("the enclave did not answer", about: visitor.peer.uid, ["why": "\(fault)"])
            try reply(.refused(fault.refusal))
        }
    }

    /// The enclave's answer passed on; one that does not belong to the request is a fault of ours.
    private func finalReply(to request: UserRequest, from reply: EnclaveReply) -> AuthenticationReply {
        switch reply {
        case .refused(let refusal): return .refused(refusal)
        case .user(let answer) where request.isAnswered(by: answer):
            let places = desk.places(user: visitor.peer.uid, caller: visitor.peer.pid)
            // What nobody could be shown cannot succeed: a program hears it before it offers it.
            if case .canEvaluate = request, places.isEmpty { return .refused(Refusal(.nobodyToAsk)) }
            return .answered(answer, promptPlaces: places)
        default: return .refused(Refusal(.internalFault))
        }
    }

    /// The enclave's last word on a request. The caller's connection is watched meanwhile: neither a prompt nor a place among those
    /// who wait for a derivation outlives the one for whom it is. The caller is told the place of a prompt, and once more if it moves,
    /// and that the request waits for its turn.
    private func outcome(of request: UserRequest) throws(EnclaveError) -> EnclaveAnswer {
        try enclave.send(.user(request), watchesCaller: true) { progress in
            switch progress {
            case .waitingForUser(let place): try? reply(.waitingForUser(place))
            case .queued: try? reply(.queued)
            }
        }
    }

    private func reply(_ reply: AuthenticationReply, descriptors: [Descriptor] = []) throws {
        try visitor.channel.send(header: reply.encoded(), descriptors: descriptors)
    }
}

extension EnclaveError {
    /// What the caller is told.
    var refusal: Refusal {
        switch self {
        case .refused(let refusal): refusal
        case .late(userWasAsked: true): Refusal(.userTimeOver)
        case .late, .unreachable, .callerGone: Refusal(.unavailable)
        case .notUnderstood: Refusal(.internalFault)
        }
    }
}
