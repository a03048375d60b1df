// The standing connections: the enclave never dials, so the rooms that it needs keep a connection open.

package import VaubanDER
package import VaubanUserModel

/// Enclave to keychaind, first on the lease connection: recalls will be sent over this connection from now on, so keys may be leased.
/// `LeaseStanding ::= SEQUENCE { version INTEGER (1) }`
package struct LeaseStanding: Hashable, Sendable, DERReadable, DERWritable {
    package init() {}
    package init(from fields: inout DERFields) throws { try fields.version(1) }
    package func write(into der: inout DERWriter) throws { try der.sequence { try $0.integer(1) } }
}

/// Enclave to keychaind, on the lease connection: erase the user's class-A keys of this epoch and older, then confirm.
package struct LeaseRecall: Hashable, Sendable, DERReadable, DERWritable {
    package let user: UInt32
    package let epoch: Int64
    /// Whether to erase all keys of the user, since the keys themselves changed.
    package let everything: Bool

    package init(user: UInt32, epoch: Int64, everything: Bool) {
        self.user = user
        self.epoch = epoch
        self.everything = everything
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        epoch = try fields.integer("epoch", in: 0...Int64.max)
        everything = try fields.boolean("everything")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(Int64(user))
            try fields.integer(epoch)
            try fields.boolean(everything)
        }
    }
}

/// keychaind to enclave: the recall of this user and epoch is complete.
package struct LeaseErased: Hashable, Sendable, DERReadable, DERWritable {
    package let user: UInt32
    package let epoch: Int64

    package init(user: UInt32, epoch: Int64) {
        self.user = user
        self.epoch = epoch
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        epoch = try fields.integer("epoch", in: 0...Int64.max)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(Int64(user))
            try fields.integer(epoch)
        }
    }
}

/// Enclave to authd, on the prompt connection. `ask` carries the key card as a descriptor.
package enum PromptNotice: Hashable, Sendable, DERReadable, DERWritable {
    case ask(PromptRequest)
    case resolved(prompt: [UInt8], PromptOutcome)
    /// Something happened to a prompt on the screen that still requires the same evidence.
    case update(prompt: [UInt8], PromptUpdate)
    /// This user's environment changed (Specs/environment.md).
    case changed(user: UInt32)

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        let number = try fields.choice("notice")
        let notice: PromptNotice? = try fields.optional(number, "notice") { notice in
            switch number {
            case 0: return .ask(try notice.value("request"))
            case 1:
                let prompt = try notice.octets("prompt", in: 16...16)
                guard let outcome = PromptOutcome(rawValue: try notice.integer("outcome", in: 0...255)) else {
                    throw DERError("outcome is unknown")
                }
                return .resolved(prompt: prompt, outcome)
            case 2: return .update(prompt: try notice.octets("prompt", in: 16...16), try notice.value("update"))
            case 3: return .changed(user: UInt32(try notice.integer("user", in: 0...Int64(UInt32.max))))
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
            case .ask(let request): try fields.tagged(0) { try $0.value(request) }
            case .resolved(let prompt, let outcome):
                try fields.tagged(1) {
                    try $0.octets(prompt); try $0.integer(outcome.rawValue)
                }
            case .update(let prompt, let update):
                try fields.tagged(2) {
                    try $0.octets(prompt); try $0.value(update)
                }
            case .changed(let user): try fields.tagged(3) { try $0.integer(Int64(user)) }
            }
        }
    }
}

/// authd to enclave, about one prompt: where it is shown, then the answer. The challenge identifies the round. A prompt that no agent
/// accepts is answered with `nobody` and never reported as shown.
package enum PromptReport: Hashable, Sendable, DERReadable, DERWritable {
    /// An agent shows it; reported once for each agent. `place` is what the waiting caller displays: "vauban approve on pts/3".
    case shown(prompt: [UInt8], place: String)
    /// The prompt is queued behind another prompt of this user; `place` is where it will be shown. The user does not see it yet, so no
    /// action of the user concerns it.
    case waiting(prompt: [UInt8], place: String)
    case answered(prompt: [UInt8], challenge: [UInt8], PromptAnswer)

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        let number = try fields.choice("report")
        let report: PromptReport? = try fields.optional(number, "report") { report in
            switch number {
            case 0: return .shown(prompt: try report.octets("prompt", in: 16...16), place: try report.text("place", max: 256))
            case 1:
                return .answered(
                    prompt: try report.octets("prompt", in: 16...16), challenge: try report.octets("challenge", in: 32...32),
                    try PromptAnswer(choiceFrom: &report))
            case 2: return .waiting(prompt: try report.octets("prompt", in: 16...16), place: try report.text("place", max: 256))
            default: throw DERError("report is unknown")
            }
        }
        guard let report else { throw DERError("report is missing") }
        self = report
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            switch self {
            case .shown(let prompt, let place):
                try fields.tagged(0) {
                    try $0.octets(prompt); try $0.text(place)
                }
            case .answered(let prompt, let challenge, let answer):
                try fields.tagged(1) {
                    try $0.octets(prompt); try $0.octets(challenge); try answer.write(into: &$0)
                }
            case .waiting(let prompt, let place):
                try fields.tagged(2) {
                    try $0.octets(prompt); try $0.text(place)
                }
            }
        }
    }
}

/// Enclave to witness: requests the identity of a process. Sent with the process's descriptor.
package struct WitnessRequest: Hashable, Sendable, DERReadable, DERWritable {
    package let number: Int64
    package let pid: Int64

    package init(number: Int64, pid: Int64) {
        self.number = number
        self.pid = pid
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        number = try fields.integer("number", in: 0...Int64.max)
        pid = try fields.integer("pid", in: 1...Int64(Int32.max))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(number)
            try fields.integer(pid)
        }
    }
}

/// Witness to enclave. A process that has ended or cannot be inspected is reported as unknown.
package struct WitnessAnswer: Hashable, Sendable, DERReadable, DERWritable {
    package let number: Int64
    package let identity: CallerIdentity

    package init(number: Int64, identity: CallerIdentity) {
        self.number = number
        self.identity = identity
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(2)
        number = try fields.integer("number", in: 0...Int64.max)
        identity = try fields.value("identity")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(2)
            try fields.integer(number)
            try fields.value(identity)
        }
    }
}
