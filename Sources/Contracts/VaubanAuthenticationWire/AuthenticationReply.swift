package import SwiftASN1
package import VaubanAccessPolicy
package import VaubanDER
package import VaubanPersonWire

/// What authd answers a caller's `PersonRequest`.
package enum AuthenticationReply: Hashable, Sendable {
    case refused(Refusal)
    /// The person is being asked at this place; the reply follows when they have answered.
    case waitingForPerson(String)
    /// The request waits for its turn; the reply follows.
    case queued
    /// The enclave's answer; and where prompts of this caller would appear now, best place first.
    case answered(PersonAnswer, promptPlaces: [String])
}

/// `AuthenticationReply ::= SEQUENCE { version INTEGER (2), reply CHOICE { refused [0], answered [1], waitingForPerson [4], queued [21] }
/// }`
extension AuthenticationReply: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(PersonRequest.version)
        let number = try fields.choice("reply")
        let reply: AuthenticationReply? = try fields.optional(number, "reply") { reply in
            switch number {
            case 0: return .refused(try reply.value("refusal"))
            case 1:
                return .answered(try reply.value("answer"), promptPlaces: try reply.list("places", max: 32, of: Sentence.self).map(\.text))
            case 4: return .waitingForPerson(try reply.text("where", max: 512))
            case 21: return .queued
            default: throw DERFault("reply is unknown")
            }
        }
        guard let reply else { throw DERFault("reply is missing") }
        self = reply
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(PersonRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .answered(let answer, let places):
                try fields.tagged(1) {
                    try $0.value(answer); try $0.list(places.prefix(32).map(Sentence.init))
                }
            case .waitingForPerson(let place): try fields.tagged(4) { try $0.text(place) }
            case .queued: fields.tagged(21) { _ in }
            }
        }
    }
}
