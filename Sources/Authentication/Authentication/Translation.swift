// The two tables of this room: a request of its door is the enclave's request of the same name, and so is the reply.

internal import EnclaveWire
internal import VaubanAccessPolicy
internal import VaubanAuthenticationWire

extension EnclaveRequest {
    init(_ request: AuthenticationRequest) {
        self =
            switch request {
            case .status: .status
            case .challenge(let purpose): .challenge(purpose)
            case .setPasscode(let challenge, let new): .setPasscode(challenge, new: new)
            case .changePasscode(let challenge, let old, let new): .changePasscode(challenge, old: old, new: new)
            case .unlock(let challenge, let passcode): .unlock(challenge, passcode)
            case .lock: .lock
            case .canEvaluate(let policy): .canEvaluate(policy)
            case .evaluate(let policy, let reason): .evaluate(policy, reason: reason)
            }
    }
}

extension AuthenticationRequest {
    /// Whether its answer may have to wait for the person.
    var mayAskThePerson: Bool {
        if case .evaluate = self { true } else { false }
    }

    /// The final reply, made of the enclave's. A reply that does not belong to the request is a fault of ours.
    func reply(from reply: EnclaveReply, promptPlaces: () -> [String]) -> AuthenticationReply {
        switch (self, reply) {
        case (_, .refused(let refusal)): .refused(refusal)
        case (.status, .status(let status)): .status(status, promptPlaces: promptPlaces())
        case (.challenge(let purpose), .challenge(let challenge)) where challenge.purpose == purpose: .challenge(challenge)
        case (.setPasscode, .done), (.changePasscode, .done), (.unlock, .done), (.lock, .done), (.canEvaluate, .done), (.evaluate, .done):
            .done
        default: .refused(Refusal(.internalFault))
        }
    }
}
