package import SwiftASN1
package import VaubanDER

/// Who asks, as the witness told it; never the caller's own words.
package struct CallerName: Hashable, Sendable, DERReadable, DERWritable {
    package let pid: Int64
    /// The executable's path; nil when nobody could look.
    package let path: String?

    package init(pid: Int64, path: String?) {
        self.pid = pid
        self.path = path
    }

    package init(from fields: inout DERFields) throws {
        pid = try fields.integer("pid", in: 0...Int64(Int32.max))
        path = try fields.optionalText(0, "path", max: 4096)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(pid)
            try fields.optionalText(0, path)
        }
    }
}

/// What the caller wants to do, in the enclave's words.
package enum PromptOperation: Int64, Sendable {
    case readItem = 1
    case evaluatePolicy = 2
    case unlock = 3
}

/// One question to the person. Each try has a challenge of its own; the prompt stays the same.
package struct PromptQuestion: Hashable, Sendable, DERReadable, DERWritable {
    package let prompt: [UInt8]
    package let person: UInt32
    package let challenge: PasscodeChallenge
    package let caller: CallerName
    package let operation: PromptOperation
    /// The caller's reason, already bounded; to be shown apart from the name.
    package let reason: String?
    /// 1 for the first try of this prompt.
    package let attempt: Int64
    /// Tries before the next delay.
    package let triesLeft: Int64
    /// What the person can show: the passcode here, a finger at the reader, or either.
    package let ways: Ways

    package static let attemptsMax: Int64 = 3

    package init(
        prompt: [UInt8], person: UInt32, challenge: PasscodeChallenge, caller: CallerName, operation: PromptOperation, reason: String?,
        attempt: Int64, triesLeft: Int64, ways: Ways = .passcode
    ) {
        self.prompt = prompt
        self.person = person
        self.challenge = challenge
        self.caller = caller
        self.operation = operation
        self.reason = reason
        self.attempt = attempt
        self.triesLeft = triesLeft
        self.ways = ways
    }

    package init(from fields: inout DERFields) throws {
        prompt = try fields.octets("prompt", in: 16...16)
        person = UInt32(try fields.integer("person", in: 0...Int64(UInt32.max)))
        challenge = try fields.value("challenge")
        caller = try fields.value("caller")
        guard let operation = PromptOperation(rawValue: try fields.integer("operation", in: 1...255)) else {
            throw DERFault("operation is unknown")
        }
        self.operation = operation
        attempt = try fields.integer("attempt", in: 1...Self.attemptsMax)
        triesLeft = try fields.integer("tries left", in: 0...100)
        ways = Ways(rawValue: try fields.integer("ways", in: 1...3))
        reason = try fields.optionalText(0, "reason", max: 1024)
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.octets(prompt)
            try fields.integer(Int64(person))
            try fields.value(challenge)
            try fields.value(caller)
            try fields.integer(operation.rawValue)
            try fields.integer(attempt)
            try fields.integer(triesLeft)
            try fields.integer(ways.rawValue)
            try fields.optionalText(0, reason)
        }
    }
}

/// What came of a question, from the agent's side. No agent can say yes.
package enum PromptAnswer: Hashable, Sendable {
    case passcode(SealedPasscode)
    case cancelled
    case fallback
    /// Nobody is there to ask: said by authd, not by an agent.
    case nobody
}

/// `PromptAnswer ::= CHOICE { passcode [0] SealedPasscode, cancelled [1], fallback [2], nobody [3] }`
extension PromptAnswer {
    package init(choiceFrom fields: inout DERFields) throws {
        switch try fields.choice("answer") {
        case 0:
            guard let sealed = try fields.optional(0, "passcode", { try $0.value("passcode", as: SealedPasscode.self) }) else {
                throw DERFault("passcode is missing")
            }
            self = .passcode(sealed)
        case 1: _ = try fields.optional(1, "cancelled") { _ in }; self = .cancelled
        case 2: _ = try fields.optional(2, "fallback") { _ in }; self = .fallback
        case 3: _ = try fields.optional(3, "nobody") { _ in }; self = .nobody
        default: throw DERFault("answer is unknown")
        }
    }

    package func write(into der: inout DER.Serializer) throws {
        switch self {
        case .passcode(let sealed): try der.tagged(0) { try $0.value(sealed) }
        case .cancelled: der.tagged(1) { _ in }
        case .fallback: der.tagged(2) { _ in }
        case .nobody: der.tagged(3) { _ in }
        }
    }
}

/// How a prompt ended, so that an agent can take it off the screen with the right word.
package enum PromptOutcome: Int64, Sendable {
    case accepted = 0
    case failed = 1
    case cancelled = 2
    case expired = 3
    case callerGone = 4
}
