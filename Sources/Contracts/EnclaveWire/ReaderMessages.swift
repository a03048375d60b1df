// The standing connection of the fingerprint reader (Specs/reader.md). The enclave sends requests; the reader reports what its sensor
// found, authenticated by its pairing key. It can report a match for one challenge; it does not decide what that allows.

package import VaubanDER
package import VaubanUserModel
internal import VaubanUserWire

/// Enclave to reader.
package enum ReaderNotice: Hashable, Sendable, DERReadable, DERWritable {
    /// The key that authenticates verdicts from now on: the message's secret section, 32 bytes. It is sent only once.
    case pair
    /// The reader is paired, and its verdicts are accepted.
    case ready
    /// Wait for a finger of this user.
    case ask(user: UInt32, nonce: [UInt8])
    /// The challenge is no longer needed.
    case cancel(nonce: [UInt8])
    /// Enroll a finger of this user.
    case enroll(user: UInt32, nonce: [UInt8])
    /// Delete all fingers of this user.
    case forgetFingers(user: UInt32, nonce: [UInt8])
    /// Hold these 32 bytes (secret section) in memory and return them with the next match of this user.
    case hold(user: UInt32)
    /// Erase the bytes held for this user.
    case drop(user: UInt32)
    /// List the fingers of this user.
    case list(user: UInt32, nonce: [UInt8])

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        let number = try fields.choice("notice")
        let notice: ReaderNotice? = try fields.optional(number, "notice") { notice in
            func user() throws -> UInt32 { UInt32(try notice.integer("user", in: 0...Int64(UInt32.max))) }
            func nonce() throws -> [UInt8] { try notice.octets("nonce", in: 32...32) }
            switch number {
            case 0: return .pair
            case 1: return .ready
            case 2: return .ask(user: try user(), nonce: try nonce())
            case 3: return .cancel(nonce: try nonce())
            case 4: return .enroll(user: try user(), nonce: try nonce())
            case 5: return .forgetFingers(user: try user(), nonce: try nonce())
            case 6: return .hold(user: try user())
            case 7: return .drop(user: try user())
            case 8: return .list(user: try user(), nonce: try nonce())
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
            case .pair: fields.tagged(0) { _ in }
            case .ready: fields.tagged(1) { _ in }
            case .ask(let user, let nonce):
                try fields.tagged(2) {
                    try $0.integer(Int64(user)); try $0.octets(nonce)
                }
            case .cancel(let nonce): try fields.tagged(3) { try $0.octets(nonce) }
            case .enroll(let user, let nonce):
                try fields.tagged(4) {
                    try $0.integer(Int64(user)); try $0.octets(nonce)
                }
            case .forgetFingers(let user, let nonce):
                try fields.tagged(5) {
                    try $0.integer(Int64(user)); try $0.octets(nonce)
                }
            case .hold(let user): try fields.tagged(6) { try $0.integer(Int64(user)) }
            case .drop(let user): try fields.tagged(7) { try $0.integer(Int64(user)) }
            case .list(let user, let nonce):
                try fields.tagged(8) {
                    try $0.integer(Int64(user)); try $0.octets(nonce)
                }
            }
        }
    }
}

/// Reader to enclave.
package enum ReaderReport: Hashable, Sendable, DERReadable, DERWritable {
    /// The first message of a connection: whether the reader has the key of an earlier pairing.
    case hello(isPaired: Bool)
    /// The sensor's result. A match may carry, as the secret section, the bytes that were held for that user.
    case verdict(ReaderVerdict)
    /// The sensor disappeared, or is available again. The enclave requests nothing of a missing sensor.
    case sensor(isPresent: Bool)
    /// A hint for the user at the sensor. No decision depends on it, so it is not authenticated. `done` of `total` touches are enrolled;
    /// both are 0 unless a finger is being enrolled.
    case hint(nonce: [UInt8], FingerHint, done: Int64, total: Int64)
    /// The names of the fingers, for display to the user. No decision depends on them.
    case fingers(nonce: [UInt8], [String])

    package static let touchesMax: Int64 = 100

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        let number = try fields.choice("report")
        let report: ReaderReport? = try fields.optional(number, "report") { report in
            switch number {
            case 0: return .hello(isPaired: try report.boolean("is paired"))
            case 1: return .verdict(try report.value("verdict"))
            case 2: return .sensor(isPresent: try report.boolean("is there"))
            case 3:
                let nonce = try report.octets("nonce", in: 32...32)
                guard let hint = FingerHint(rawValue: try report.integer("hint", in: 1...255)) else {
                    throw DERError("hint is unknown")
                }
                let touches = 0...Self.touchesMax
                return .hint(
                    nonce: nonce, hint, done: try report.integer("done", in: touches), total: try report.integer("total", in: touches))
            case 4:
                let nonce = try report.octets("nonce", in: 32...32)
                return .fingers(nonce: nonce, try report.list("fingers", max: FingerName.countMax, of: FingerName.self).map(\.text))
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
            case .hello(let isPaired): try fields.tagged(0) { try $0.boolean(isPaired) }
            case .verdict(let verdict): try fields.tagged(1) { try $0.value(verdict) }
            case .sensor(let isPresent): try fields.tagged(2) { try $0.boolean(isPresent) }
            case .hint(let nonce, let hint, let done, let total):
                try fields.tagged(3) {
                    try $0.octets(nonce); try $0.integer(hint.rawValue); try $0.integer(done); try $0.integer(total)
                }
            case .fingers(let nonce, let names):
                try fields.tagged(4) {
                    try $0.octets(nonce); try $0.list(names.prefix(FingerName.countMax).map(FingerName.init))
                }
            }
        }
    }
}

/// `ReaderVerdict ::= SEQUENCE { outcome INTEGER, user INTEGER, nonce OCTET STRING (SIZE (32)),
///   fingers OCTET STRING (SIZE (32)), code OCTET STRING (SIZE (32)) }`
package struct ReaderVerdict: Hashable, Sendable, DERReadable, DERWritable {
    package enum Outcome: Int64, Sendable {
        case matched = 1
        case missed = 2
        /// The requested enrollment ended with this list of fingers.
        case enrolled = 3
        /// The request ended without a change.
        case notEnrolled = 4
        /// The list changed without a request of the enclave. The nonce is 32 zero bytes.
        case changed = 5
    }

    package let outcome: Outcome
    package let user: UInt32
    /// The challenge that this answers.
    package let nonce: [UInt8]
    /// SHA-256 of the user's fingers as the template store lists them; 32 zero bytes if there are none.
    package let fingers: [UInt8]
    /// HMAC-SHA256 under the pairing key over `covered`.
    package let code: [UInt8]

    package init(outcome: Outcome, user: UInt32, nonce: [UInt8], fingers: [UInt8], code: [UInt8] = [UInt8](repeating: 0, count: 32)) {
        self.outcome = outcome
        self.user = user
        self.nonce = nonce
        self.fingers = fingers
        self.code = code
    }

    /// The bytes that the code authenticates: a label, a zero byte, the outcome (1 byte), the user (4, big-endian), nonce and fingers.
    package var covered: [UInt8] {
        Array("vauban reader verdict v1".utf8) + [0, UInt8(outcome.rawValue)] + withUnsafeBytes(of: user.bigEndian) { Array($0) } + nonce
            + fingers
    }

    package init(from fields: inout DERFields) throws {
        guard let outcome = Outcome(rawValue: try fields.integer("outcome", in: 1...255)) else { throw DERError("outcome is unknown") }
        self.outcome = outcome
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        nonce = try fields.octets("nonce", in: 32...32)
        fingers = try fields.octets("fingers", in: 32...32)
        code = try fields.octets("code", in: 32...32)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(outcome.rawValue)
            try fields.integer(Int64(user))
            try fields.octets(nonce)
            try fields.octets(fingers)
            try fields.octets(code)
        }
    }
}
