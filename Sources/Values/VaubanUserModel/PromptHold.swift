package import VaubanDER

/// What a passcode typed at a prompt allows for some time, besides the one signature: further signatures of messages for one purpose, at
/// the request of one program (Specs/authorizations.md, "Answers that hold").
///
/// `PromptHold ::= SEQUENCE { seconds INTEGER (1..900), namespace UTF8String (SIZE (1..256)), program CallerName }`
package struct PromptHold: Hashable, Sendable, DERReadable, DERWritable {
    package static let secondsMax: Int64 = 900
    package static let namespaceBytesMax = 256

    package let seconds: Int64
    /// The purpose that the messages state, such as `git`.
    package let namespace: String
    /// The program that requests the signatures from the caller, as the witness determined it.
    package let program: CallerName

    package init(seconds: Int64, namespace: String, program: CallerName) {
        self.seconds = seconds
        self.namespace = namespace
        self.program = program
    }

    package init(from fields: inout DERFields) throws {
        seconds = try fields.integer("seconds", in: 1...Self.secondsMax)
        namespace = try fields.text("namespace", max: Self.namespaceBytesMax)
        guard !namespace.isEmpty else { throw DERError("namespace is empty") }
        program = try fields.value("program")
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(seconds)
            try fields.text(namespace)
            try fields.value(program)
        }
    }
}
