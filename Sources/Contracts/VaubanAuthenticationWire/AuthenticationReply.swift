package import VaubanDER
package import VaubanRefusal
internal import VaubanUserModel
package import VaubanUserWire

/// authd's reply to a caller's `UserRequest`.
package enum AuthenticationReply: Hashable, Sendable {
    case refused(Refusal)
    /// The user is being prompted at this place; the final reply follows.
    case waitingForUser(String)
    /// The request is queued; the final reply follows.
    case queued
    /// The enclave's answer, and where prompts of this caller would appear now, best place first.
    case answered(UserAnswer, promptPlaces: [String])
}

/// `AuthenticationReply ::= SEQUENCE { version INTEGER (2), reply CHOICE { refused [0], answered [1], waitingForUser [4], queued [21] }
/// }`
extension AuthenticationReply: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(UserRequest.version)
        let number = try fields.choice("reply")
        let reply: AuthenticationReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0: return .refused(try reply.value("refusal"))
            case 1:
                return .answered(try reply.value("answer"), promptPlaces: try reply.list("places", max: 32, of: Sentence.self).map(\.text))
            case 4: return .waitingForUser(try reply.text("where", max: 512))
            case 21: return .queued
            default: throw DERError("reply is unknown")
            }
        }
        guard let reply else { throw DERError("reply is missing") }
        self = reply
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(UserRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .answered(let answer, let places):
                try fields.tagged(1) {
                    try $0.value(answer); try $0.list(places.prefix(32).map(Sentence.init))
                }
            case .waitingForUser(let place): try fields.tagged(4) { try $0.text(place) }
            case .queued: fields.tagged(21) { _ in }
            }
        }
    }
}
