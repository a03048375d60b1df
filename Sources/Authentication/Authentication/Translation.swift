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
            case .setPasscode(let challenge, let new, let recoveryKey): .setPasscode(challenge, new: new, recoveryKey: recoveryKey)
            case .changePasscode(let challenge, let old, let new, let rolls): .changePasscode(challenge, old: old, new: new, rolls: rolls)
            case .unlock(let challenge, let passcode): .unlock(challenge, passcode)
            case .lock: .lock
            case .canEvaluate(let policy): .canEvaluate(policy)
            case .environment: .environment
            case .evaluate(let evaluation): .evaluate(evaluation)
            case .removePasscode(let challenge, let passcode): .removePasscode(challenge, passcode)
            case .erase(let challenge, let passcode): .erase(challenge, passcode)
            case .recover(let challenge, let recoveryKey, let new, let newRecoveryKey):
                .recover(challenge, recoveryKey: recoveryKey, new: new, newRecoveryKey: newRecoveryKey)
            case .setRecoveryKey(let challenge, let passcode, let recoveryKey): .setRecoveryKey(challenge, passcode, recoveryKey: recoveryKey)
            case .configure(let challenge, let passcode, let settings): .configure(challenge, passcode, settings)
            case .enrol(let challenge, let passcode, let unlocks): .enrol(challenge, passcode, unlocks: unlocks)
            case .forgetFingers(let challenge, let passcode): .forgetFingers(challenge, passcode)
            case .unlockByFinger: .unlockByFinger
            case .listFingers(let challenge, let passcode): .listFingers(challenge, passcode)
            }
    }
}

extension AuthenticationRequest {
    /// Whether its answer may have to wait for the person.
    var mayAskThePerson: Bool {
        switch self {
        case .evaluate, .enrol, .forgetFingers, .unlockByFinger, .listFingers: true
        default: false
        }
    }

    /// The final reply, made of the enclave's. A reply that does not belong to the request is a fault of ours.
    func reply(from reply: EnclaveReply, promptPlaces: () -> [String]) -> AuthenticationReply {
        switch (self, reply) {
        case (_, .refused(let refusal)): .refused(refusal)
        case (.status, .status(let status)): .status(status, promptPlaces: promptPlaces())
        case (.challenge(let purpose), .challenge(let challenge)) where challenge.purpose == purpose: .challenge(challenge)
        case (.listFingers, .fingers(let names)): .fingers(names)
        case (.canEvaluate, .evaluated(let result)):
            // What nobody could be shown cannot succeed: a program hears it before it offers it.
            promptPlaces().isEmpty ? .refused(Refusal(.nobodyToAsk)) : .evaluated(result)
        case (.evaluate, .evaluated(let result)): .evaluated(result)
        case (.environment, .environment(let environment)): .environment(environment, canBeAsked: !promptPlaces().isEmpty)
        case (.status, .done), (.challenge, .done), (.listFingers, .done), (.canEvaluate, .done), (.evaluate, .done), (.environment, .done):
            .refused(Refusal(.internalFault))
        case (_, .done): .done
        default: .refused(Refusal(.internalFault))
        }
    }
}
