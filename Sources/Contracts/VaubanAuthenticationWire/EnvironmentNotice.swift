package import VaubanDER
package import VaubanRefusal

/// authd to a watcher, which sends nothing itself (Specs/environment.md).
///
/// `EnvironmentNotice ::= SEQUENCE { version INTEGER (1), notice CHOICE { changed [0] SEQUENCE {},
///   refused [1] SEQUENCE { refusal Refusal } } }`
package enum EnvironmentNotice: Hashable, Sendable, DERReadable, DERWritable {
    /// The environment may have changed. Also sent once when the watch begins.
    case changed
    /// The watch ends.
    case refused(Refusal)

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        let number = try fields.choice("notice")
        let notice: EnvironmentNotice? = try fields.optional(number, "notice") { notice in
            switch number {
            case 0: return .changed
            case 1: return .refused(try notice.value("refusal"))
            default: throw DERError("notice is unknown")
            }
        }
        guard let notice else { throw DERError("notice is missing") }
        self = notice
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            switch self {
            case .changed: fields.tagged(0) { _ in }
            case .refused(let refusal): try fields.tagged(1) { try $0.value(refusal) }
            }
        }
    }
}
