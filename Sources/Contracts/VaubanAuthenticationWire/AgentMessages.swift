package import VaubanDER
package import VaubanRefusal
package import VaubanUserModel

/// The prompts that an agent takes.
package enum AgentScope: Int64, Sendable {
    /// Prompts of every caller of the user: the terminal of `vauban approve`.
    case everyCaller = 1
    /// Only prompts of the process that registered: Vauban's command line on its own terminal, or another program on its own if the user
    /// allowed that.
    case ownProcess = 2
    /// Prompts of every caller of the user, preferred to any terminal: the sheet on the desktop.
    case sheet = 3
    /// Prompts of every caller of the user for which there is no other place: another device, to which they are forwarded.
    case otherDevice = 4
}

/// A message of a prompt agent to authd. It registers first, then answers prompts.
package enum AgentMessage: Hashable, Sendable {
    /// `place` describes to the user where the agent is: "vauban approve on pts/3".
    case register(AgentScope, place: String)
    case answer(prompt: [UInt8], challenge: [UInt8], PromptAnswer)
}

/// A message of authd to an agent. `ask` carries the enclave's key card as a descriptor. The same prompt may be sent again with another
/// challenge, after a wrong passcode.
package enum AgentNotice: Hashable, Sendable {
    case registered
    case refused(Refusal)
    case ask(PromptRequest)
    case resolved(prompt: [UInt8], PromptOutcome)
    case update(prompt: [UInt8], PromptUpdate)
}

extension AgentMessage: DERReadable, DERWritable {
    package static let version: Int64 = 1

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("message")
        let message: AgentMessage? = try fields.optional(number, "message") { message in
            switch number {
            case 0:
                guard let scope = AgentScope(rawValue: try message.integer("scope", in: 1...255)) else {
                    throw DERError("scope is unknown")
                }
                return .register(scope, place: try message.text("place", max: 256))
            case 1:
                return .answer(
                    prompt: try message.octets("prompt", in: 16...16), challenge: try message.octets("challenge", in: 32...32),
                    try PromptAnswer(choiceFrom: &message))
            default: throw Refusal(.unknownRequest, "agent message \(number) is not known to version \(Self.version)")
            }
        }
        guard let message else { throw DERError("message is missing") }
        self = message
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .register(let scope, let place):
                try fields.tagged(0) {
                    try $0.integer(scope.rawValue); try $0.text(place)
                }
            case .answer(let prompt, let challenge, let answer):
                try fields.tagged(1) {
                    try $0.octets(prompt); try $0.octets(challenge); try answer.write(into: &$0)
                }
            }
        }
    }
}

extension AgentNotice: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(AgentMessage.version)
        let number = try fields.choice("notice")
        let notice: AgentNotice? = try fields.optional(number, "notice") { notice in
            switch number {
            case 0: return .registered
            case 1: return .refused(try notice.value("refusal"))
            case 2: return .ask(try notice.value("request"))
            case 3:
                let prompt = try notice.octets("prompt", in: 16...16)
                guard let outcome = PromptOutcome(rawValue: try notice.integer("outcome", in: 0...255)) else {
                    throw DERError("outcome is unknown")
                }
                return .resolved(prompt: prompt, outcome)
            case 4: return .update(prompt: try notice.octets("prompt", in: 16...16), try notice.value("update"))
            default: throw DERError("notice is unknown")
            }
        }
        guard let notice else { throw DERError("notice is missing") }
        self = notice
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(AgentMessage.version)
            switch self {
            case .registered: fields.tagged(0) { _ in }
            case .refused(let refusal): try fields.tagged(1) { try $0.value(refusal) }
            case .ask(let request): try fields.tagged(2) { try $0.value(request) }
            case .resolved(let prompt, let outcome):
                try fields.tagged(3) {
                    try $0.octets(prompt); try $0.integer(outcome.rawValue)
                }
            case .update(let prompt, let update):
                try fields.tagged(4) {
                    try $0.octets(prompt); try $0.value(update)
                }
            }
        }
    }
}
