// The requests of a user's programs about that user's own keychain (Specs/user-wire.md), the same on both sockets: authd decodes them
// strictly and forwards them to the enclave, which decides.

package import VaubanDER
internal import VaubanRefusal
package import VaubanUserModel

/// A request on behalf of the caller's user, as the kernel names it. Secrets are sealed to the enclave, each for one challenge.
package enum UserRequest: Hashable, Sendable {
    case status
    /// Returns a new challenge, and the key to seal to.
    case challenge(PasscodePurpose)
    case unlock(PasscodeChallenge, SealedPasscode)
    /// Waits for the user at the reader.
    case unlockByFinger
    case lock
    /// Shows the user a prompt for the passcode, with the caller's reason, and unlocks. Does not prompt if the keychain is unlocked.
    case unlockByPrompt(reason: String)
    /// Shows the user a prompt for the passcode with the change, and makes it. The caller sees no secret.
    case changeByPrompt(CredentialChange)
    /// Returns whether a policy can succeed; never prompts.
    case canEvaluate(OwnerPolicy)
    /// Shows the user the reason and waits for the answer.
    case evaluate(Evaluation)
    /// Returns the user's environment; never prompts.
    case environment
    /// The secret that authorizes the request is sealed for exactly this one (`SealBinding`).
    case credential(CredentialRequest, PasscodeChallenge, authority: SealedPasscode)
    /// Replaces the keychain by a new, empty one, if no passcode is set or after ten failed attempts in a row.
    case eraseWithoutPasscode(PasscodeChallenge)

    /// Whether the reply may have to wait for the user, at a prompt or at the reader.
    package var mayWaitForUser: Bool {
        switch self {
        case .evaluate, .unlockByFinger, .unlockByPrompt, .changeByPrompt, .credential(.enroll, _, _),
            .credential(.forgetFingers, _, _), .credential(.listFingers, _, _):
            true
        case .status, .challenge, .unlock, .lock, .canEvaluate, .environment, .eraseWithoutPasscode, .credential: false
        }
    }

    /// Returns whether an answer matches this request. Names every request, so that a new one does not compile until its answer is known.
    package func isAnswered(by answer: UserAnswer) -> Bool {
        switch self {
        case .status: if case .status = answer { true } else { false }
        case .challenge(let purpose): if case .challenge(let challenge) = answer { challenge.purpose == purpose } else { false }
        case .canEvaluate, .evaluate: if case .evaluated = answer { true } else { false }
        case .environment: if case .environment = answer { true } else { false }
        case .credential(.listFingers, _, _): if case .fingers = answer { true } else { false }
        case .unlock, .unlockByFinger, .unlockByPrompt, .changeByPrompt, .lock, .credential, .eraseWithoutPasscode: answer == .done
        }
    }
}

/// `UserRequest ::= SEQUENCE { version INTEGER (2), request CHOICE { status [0], challenge [1], unlock [2], unlockByFinger [3],
///   lock [4], canEvaluate [5], evaluate [6], environment [7], credential [8], eraseWithoutPasscode [9], unlockByPrompt [10],
///   changeByPrompt [11] } }`
extension UserRequest: DERReadable, DERWritable {
    package static let version: Int64 = 2

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("request")
        guard let request = try fields.optional(number, "request", read: { try Self.request(number, &$0) }) else {
            throw DERError("request is missing")
        }
        self = request
    }

    private static func request(_ number: UInt, _ request: inout DERFields) throws -> UserRequest {
        switch number {
        case 0: return .status
        case 1:
            guard let purpose = PasscodePurpose(rawValue: try request.integer("purpose", in: 1...255)), purpose != .prompt else {
                throw DERError("purpose is unknown")
            }
            return .challenge(purpose)
        case 2: return .unlock(try request.value("challenge"), try request.value("passcode"))
        case 3: return .unlockByFinger
        case 4: return .lock
        case 5:
            guard let policy = OwnerPolicy(rawValue: try request.integer("policy", in: 1...255)) else {
                throw Refusal(.unsupported, "This policy is not supported")
            }
            return .canEvaluate(policy)
        case 6: return .evaluate(try request.value("evaluation"))
        case 7: return .environment
        case 8:
            return .credential(
                try request.value("credential request"), try request.value("challenge"), authority: try request.value("authority"))
        case 9: return .eraseWithoutPasscode(try request.value("challenge"))
        case 10: return .unlockByPrompt(reason: try request.text("reason", max: Evaluation.reasonBytesMax))
        case 11: return .changeByPrompt(try request.value("change"))
        default: throw Refusal(.unknownRequest, "user request \(number) is not known to version \(version)")
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .status: fields.tagged(0) { _ in }
            case .challenge(let purpose): try fields.tagged(1) { try $0.integer(purpose.rawValue) }
            case .unlock(let challenge, let passcode):
                try fields.tagged(2) {
                    try $0.value(challenge); try $0.value(passcode)
                }
            case .unlockByFinger: fields.tagged(3) { _ in }
            case .lock: fields.tagged(4) { _ in }
            case .canEvaluate(let policy): try fields.tagged(5) { try $0.integer(policy.rawValue) }
            case .evaluate(let evaluation): try fields.tagged(6) { try $0.value(evaluation) }
            case .environment: fields.tagged(7) { _ in }
            case .credential(let request, let challenge, let authority):
                try fields.tagged(8) {
                    try $0.value(request); try $0.value(challenge); try $0.value(authority)
                }
            case .eraseWithoutPasscode(let challenge): try fields.tagged(9) { try $0.value(challenge) }
            case .unlockByPrompt(let reason): try fields.tagged(10) { try $0.text(reason) }
            case .changeByPrompt(let change): try fields.tagged(11) { try $0.value(change) }
            }
        }
    }
}
