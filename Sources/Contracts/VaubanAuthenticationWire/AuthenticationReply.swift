package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER

/// What authd answers a caller.
package enum AuthenticationReply: Hashable, Sendable {
    case refused(Refusal)
    case done
    /// The enclave's state for the caller's person, and where prompts would appear now, best place first.
    case status(DeviceStatus, promptPlaces: [String])
    /// The enclave's key card comes beside it as a descriptor.
    case challenge(PasscodeChallenge)
    case waitingForPerson(String)
    /// The request waits for its turn; the reply follows.
    case queued
    /// To `evaluate` and `canEvaluate`.
    case evaluated(EvaluationResult)
    /// To `environment`; and whether a prompt of this caller could appear anywhere now.
    case environment(OwnerEnvironment, canBeAsked: Bool)
    /// The names of the person's fingers, as the store of templates calls them.
    case fingers([String])
}

extension AuthenticationReply: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(AuthenticationRequest.version)
        let number = try fields.choice("reply")
        let reply: AuthenticationReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0: return .refused(try reply.value("refusal"))
            case 1: return .done
            case 2:
                return .status(try reply.value("status"), promptPlaces: try reply.list("places", max: 32, of: Sentence.self).map(\.text))
            case 3: return .challenge(try reply.value("challenge"))
            case 4: return .waitingForPerson(try reply.text("where", max: 512))
            case 21: return .queued
            case 5: return .evaluated(try reply.value("result"))
            case 6: return .environment(try reply.value("environment"), canBeAsked: try reply.boolean("can be asked"))
            case 20: return .fingers(try reply.list("fingers", max: 32, of: Sentence.self).map(\.text))
            default: throw DERFault("reply is unknown")
            }
        }
        guard let reply else { throw DERFault("reply is missing") }
        self = reply
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(AuthenticationRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .done: fields.tagged(1) { _ in }
            case .status(let status, let places):
                try fields.tagged(2) { try $0.value(status); try $0.list(places.prefix(32).map(Sentence.init)) }
            case .challenge(let challenge): try fields.tagged(3) { try $0.value(challenge) }
            case .waitingForPerson(let place): try fields.tagged(4) { try $0.text(place) }
            case .queued: fields.tagged(21) { _ in }
            case .evaluated(let result): try fields.tagged(5) { try $0.value(result) }
            case .environment(let environment, let canBeAsked): try fields.tagged(6) { try $0.value(environment); try $0.boolean(canBeAsked) }
            case .fingers(let names): try fields.tagged(20) { try $0.list(names.prefix(32).map(Sentence.init)) }
            }
        }
    }
}
