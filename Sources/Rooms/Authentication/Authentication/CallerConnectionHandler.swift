internal import EnclaveConnection
internal import EnclaveWire
internal import Logging
internal import VaubanAuthenticationWire
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserWire
import VaubanRoomLog

/// Serves one caller on its own thread. It decides nothing: requests go to the enclave, and the enclave's replies go back.
struct CallerConnectionHandler {
    private let connection: AcceptedConnection
    private let dispatcher: PromptDispatcher
    private let log: BoundedLog
    private let enclave: EnclaveClient

    init(connection: AcceptedConnection, dispatcher: PromptDispatcher, enclave: EnclaveClient, log: BoundedLog) {
        self.connection = connection
        self.dispatcher = dispatcher
        self.log = log
        self.enclave = enclave
    }

    func serve() {
        // Shut down, not only close: the enclave may still hold the duplicate from the registration.
        defer {
            enclave.close()
            connection.channel.shutDown()
        }
        do {
            while true {
                let message = try connection.channel.receive(.idle)
                guard message.secret == nil, message.descriptors.isEmpty else {
                    throw DERError("a request carries a secret or a descriptor")
                }
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
            log.notice("a connection was ended", about: connection.peer.uid, ["why": "\(error)"])
            // The peer may have disconnected already, which has the same effect.
            try? reply(.refused(ConnectionRefusal.refusal(error)))
        }
    }

    /// Answers one request. Throws only errors that end the caller's connection; an error of the enclave is sent as a refusal.
    private func answer(_ request: UserRequest) throws {
        do {
            let answer = try outcome(of: request)
            // An authorization lasts as long as the connection.
            if request.mayWaitForUser, case .user(.evaluated) = answer.reply { connection.keepOpenWhileIdle() }
            try reply(finalReply(to: request, from: answer.reply), descriptors: answer.descriptors)
        } catch let fault as EnclaveError {
            if case .callerGone = fault { throw fault }
            log.refusal("the enclave did not answer", about: connection.peer.uid, fault.refusal, why: "\(fault)")
            try reply(.refused(fault.refusal))
        }
    }

    /// Returns the enclave's reply as authd's reply. A reply that does not match the request is an error in Vauban. Every reply is named,
    /// so that a new one does not compile until it is known whether a caller may receive it.
    private func finalReply(to request: UserRequest, from reply: EnclaveReply) -> AuthenticationReply {
        switch reply {
        case .refused(let refusal): return .refused(refusal)
        case .user(let answer) where request.isAnswered(by: answer):
            let places = dispatcher.places(user: connection.peer.uid, caller: connection.peer.pid)
            // A prompt that cannot be shown cannot succeed, so report that before the program offers it.
            if case .canEvaluate = request, places.isEmpty { return .refused(Refusal(.noPromptAgent)) }
            return .answered(answer, promptPlaces: places)
        case .user, .done, .caller, .sealed, .opened, .leased, .waitingForUser, .queued, .keyStatus, .identity, .consented, .backup,
            .restoreKeys, .circle, .seriesKey, .logEnd, .logHead:
            return .refused(Refusal(.internalError))
        }
    }

    /// Sends a request to the enclave and waits for the final reply. Watches the caller's connection meanwhile, so that neither a prompt
    /// nor a queued derivation outlives its caller. Reports the place of the prompt to the caller whenever it changes, and that the request
    /// is queued.
    private func outcome(of request: UserRequest) throws(EnclaveError) -> EnclaveReplyMessage {
        try enclave.send(.user(request), watchesCaller: true) { progress in
            switch progress {
            case .waitingForUser(let place): try? reply(.waitingForUser(place))
            case .queued: try? reply(.queued)
            }
        }
    }

    private func reply(_ reply: AuthenticationReply, descriptors: [Descriptor] = []) throws {
        try connection.channel.send(header: reply.encoded(), descriptors: descriptors)
    }
}

extension EnclaveError {
    /// The refusal that the caller receives.
    var refusal: Refusal {
        switch self {
        case .refused(let refusal): refusal
        case .late(userWasPrompted: true): Refusal(.userTimedOut)
        case .late, .unreachable(.closed), .unreachable(.deadline), .unreachable(.system):
            Refusal(.unavailable, "The enclave does not answer")
        // An enclave whose messages cannot be used does answer, and the log says what is wrong.
        case .callerGone, .unreachable: Refusal(.unavailable)
        case .unexpectedReply: Refusal(.internalError)
        }
    }
}
