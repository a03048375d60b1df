// Requests to the enclave about a circle of devices, on every wire that carries them (Specs/sync.md).

package import VaubanDER
internal import VaubanRefusal

/// A request about this user's circle on this device; the enclave holds its keys and state. The caller writes the document of a reply to
/// the folder. If that failed, the same request returns the document again.
package enum CircleRequest: Hashable, Sendable {
    /// Starts a circle with this device as its only member. Returns its first statement.
    case begin(name: String)
    /// Makes the keys with which this device requests to join a circle. Returns a commitment to them.
    case apply(name: String)
    /// Answers the commitment of a device that requests to join. Returns the answer.
    case answer(commitment: [UInt8])
    /// Reveals the keys that were committed to. Returns the signed join request, and the code to type at the member.
    case reveal(answer: [UInt8])
    /// Admits the device of a join request if the code is the one that the device shows and the user approves. Returns a statement, and the
    /// code to type at the new device.
    case approve(reveal: [UInt8], code: String)
    /// Enters the circle of a statement if the code is the one that the member shows and the user approves.
    case enter(statement: [UInt8], code: String)
    /// Removes a device and makes a new circle key, if the user approves. Returns a statement.
    case remove(device: [UInt8])
    /// Follows another member's statement.
    case follow(statement: [UInt8])
    /// Changes nothing. Returns the last statement if this device made it, or this device's join request by a token, since these may be
    /// missing in the folder.
    case view
    /// Opens the circle on this connection. The secret section has the keys of its files and of this device's state.
    case open
    /// Signs the digest of a file that this device writes.
    case sign(digest: [UInt8])
    /// Signs the enclave's key card, together with the digest of the file that announces how this device forwards prompts
    /// (Specs/forwarded-prompts.md). Returns the card's public key and the signature.
    case signKeyCard(with: [UInt8])
    /// Erases the circle's keys on this device and leaves the circle.
    case leave
    /// Like `approve`, but the device becomes a companion that receives these items. Only keychaind can resolve the names, so it makes this
    /// request and the two below, and supplies the text of the prompt.
    case admitCompanion(reveal: [UInt8], code: String, BlindedNames, shown: String)
    /// Adds items to the list of a companion, or removes them from it, if the user approves. Returns a statement.
    case allow(device: [UInt8], BlindedNames, shown: String)
    case disallow(device: [UInt8], BlindedNames, shown: String)
    /// Returns the keys of the files for a companion, by epoch, as the secret section.
    case companionFiles(device: [UInt8])
    /// Makes a token with which one device can become a companion that receives these items, if the user approves. Like `admitCompanion`,
    /// only keychaind makes this request. Returns the token; the secret section is the seed of its key.
    case makeToken(name: String, seconds: Int64, BlindedNames, shown: String)
    /// Makes the keys with which this device requests to join by a token, if the user approves. The secret section is the token's seed.
    /// Returns the join request.
    case redeem(token: [UInt8])
    /// Admits, once, the device of a join request by one of this device's tokens. Returns a statement, or nothing if the device is already
    /// admitted.
    case admitByToken(request: [UInt8])
    /// Enters the circle of a statement by the token that was redeemed.
    case enterByToken(statement: [UInt8])
    /// Revokes a token of this device.
    case revokeToken(verification: [UInt8])
    /// Makes a recovery key for the circle, if the user approves. The secret section is the key. It is held for this connection alone, and
    /// nothing is stored, until it is confirmed.
    case makeRecoveryKey
    /// Stores the recovery key that was made on this connection, since the user has seen it. It replaces any earlier one. Returns a
    /// statement.
    case confirmRecoveryKey
    /// Revokes the recovery key, if the user approves. Returns a statement.
    case endRecoveryKey
    /// Finds, for this connection, the circle of a recovery key in the statement that made the key. The secret section is the key.
    case findByRecoveryKey(statement: [UInt8])
    /// Follows the next statement of the circle that was found.
    case followByRecoveryKey(statement: [UInt8])
    /// Enters the circle that was found, with this name for this device, if the user approves. Returns a statement, which revokes the
    /// recovery key.
    case enterByRecoveryKey(name: String)

    package static let nameBytesMax = 64
    package static let codeBytesMax = 32
    package static let documentBytesMax = 50_000
    /// The most devices in a circle, companions included.
    package static let membersMax = 10
    package static let companionsMax = 4
    package static let shownBytesMax = 512
    /// The last statement of a circle has this number, in the eight digits of its file's name.
    package static let numberMax: Int64 = 99_999_999
    /// The most circle keys: the first one, and one for each removal.
    package static let epochsMax = 64
    package static let deviceBytes = 16
    package static let digestBytes = 32
    package static let signatureBytes = 64
    package static let recoveryKeyBytes = 16

    /// Whether the reply may have to wait for the user.
    package var mayWaitForUser: Bool {
        switch self {
        case .approve, .enter, .remove, .admitCompanion, .allow, .disallow, .makeToken, .redeem, .makeRecoveryKey, .endRecoveryKey,
            .enterByRecoveryKey:
            true
        case .begin, .apply, .answer, .reveal, .follow, .view, .open, .sign, .leave, .companionFiles, .admitByToken, .enterByToken,
            .revokeToken, .confirmRecoveryKey, .findByRecoveryKey, .followByRecoveryKey, .signKeyCard:
            false
        }
    }

    /// Whether the request names items, so that only keychaind may make it.
    package var namesItems: Bool {
        switch self {
        case .admitCompanion, .allow, .disallow, .makeToken: true
        default: false
        }
    }

    /// Whether the request has a secret section.
    package var takesSecret: Bool {
        switch self {
        case .redeem, .findByRecoveryKey: true
        default: false
        }
    }
}

/// `CircleRequest ::= CHOICE { begin [0], apply [1], answer [2], reveal [3], approve [4], enter [5], remove [6], follow [7], open [8],
///   sign [9], view [10], leave [11], admitCompanion [12], allow [13], disallow [14], companionFiles [15], makeToken [16],
///   redeem [17], admitByToken [18], enterByToken [19], revokeToken [20], makeRecoveryKey [21], endRecoveryKey [22],
///   findByRecoveryKey [23], followByRecoveryKey [24], enterByRecoveryKey [25],
///   signKeyCard [26], confirmRecoveryKey [27] }`, in a SEQUENCE
extension CircleRequest: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        let number = try fields.choice("circle request")
        let request: CircleRequest? = try fields.optional(number, "circle request") { call in
            switch number {
            case 0: return .begin(name: try call.text("name", max: Self.nameBytesMax))
            case 1: return .apply(name: try call.text("name", max: Self.nameBytesMax))
            case 2: return .answer(commitment: try Self.document(&call))
            case 3: return .reveal(answer: try Self.document(&call))
            case 4: return .approve(reveal: try Self.document(&call), code: try call.text("code", max: Self.codeBytesMax))
            case 5: return .enter(statement: try Self.document(&call), code: try call.text("code", max: Self.codeBytesMax))
            case 6: return .remove(device: try Self.device(&call))
            case 7: return .follow(statement: try Self.document(&call))
            case 8: return .open
            case 9: return .sign(digest: try call.octets("digest", in: Self.digestBytes...Self.digestBytes))
            case 10: return .view
            case 11: return .leave
            case 12:
                return .admitCompanion(
                    reveal: try Self.document(&call), code: try call.text("code", max: Self.codeBytesMax), try call.names("names"),
                    shown: try Self.shown(&call))
            case 13: return .allow(device: try Self.device(&call), try call.names("names"), shown: try Self.shown(&call))
            case 14: return .disallow(device: try Self.device(&call), try call.names("names"), shown: try Self.shown(&call))
            case 15: return .companionFiles(device: try Self.device(&call))
            case 16:
                return .makeToken(
                    name: try call.text("name", max: Self.nameBytesMax), seconds: try call.integer("seconds", in: JoinToken.seconds),
                    try call.names("names"), shown: try Self.shown(&call))
            case 17: return .redeem(token: try Self.document(&call))
            case 18: return .admitByToken(request: try Self.document(&call))
            case 19: return .enterByToken(statement: try Self.document(&call))
            case 20:
                let bytes = JoinToken.verificationBytes
                return .revokeToken(verification: try call.octets("token", in: bytes...bytes))
            case 21: return .makeRecoveryKey
            case 22: return .endRecoveryKey
            case 23: return .findByRecoveryKey(statement: try Self.document(&call))
            case 24: return .followByRecoveryKey(statement: try Self.document(&call))
            case 25: return .enterByRecoveryKey(name: try call.text("name", max: Self.nameBytesMax))
            case 26: return .signKeyCard(with: try call.octets("digest", in: Self.digestBytes...Self.digestBytes))
            case 27: return .confirmRecoveryKey
            default: throw Refusal(.unknownRequest, "circle request \(number) is not known")
            }
        }
        guard let request else { throw DERError("circle request is missing") }
        self = request
    }

    private static func document(_ call: inout DERFields) throws -> [UInt8] { try call.octets("document", in: 1...documentBytesMax) }

    private static func device(_ call: inout DERFields) throws -> [UInt8] { try call.octets("device", in: deviceBytes...deviceBytes) }

    private static func shown(_ call: inout DERFields) throws -> String { try call.text("shown", max: shownBytesMax) }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch self {
            case .begin(let name): try fields.tagged(0) { try $0.text(name) }
            case .apply(let name): try fields.tagged(1) { try $0.text(name) }
            case .answer(let commitment): try fields.tagged(2) { try $0.octets(commitment) }
            case .reveal(let answer): try fields.tagged(3) { try $0.octets(answer) }
            case .approve(let reveal, let code):
                try fields.tagged(4) {
                    try $0.octets(reveal); try $0.text(code)
                }
            case .enter(let statement, let code):
                try fields.tagged(5) {
                    try $0.octets(statement); try $0.text(code)
                }
            case .remove(let device): try fields.tagged(6) { try $0.octets(device) }
            case .follow(let statement): try fields.tagged(7) { try $0.octets(statement) }
            case .open: fields.tagged(8) { _ in }
            case .view: fields.tagged(10) { _ in }
            case .leave: fields.tagged(11) { _ in }
            case .sign(let digest): try fields.tagged(9) { try $0.octets(digest) }
            case .admitCompanion(let reveal, let code, let names, let shown):
                try fields.tagged(12) { call in
                    try call.octets(reveal); try call.text(code)
                    try call.octets(names.joined); try call.text(shown)
                }
            case .allow(let device, let names, let shown):
                try fields.tagged(13) {
                    try $0.octets(device); try $0.octets(names.joined); try $0.text(shown)
                }
            case .disallow(let device, let names, let shown):
                try fields.tagged(14) {
                    try $0.octets(device); try $0.octets(names.joined); try $0.text(shown)
                }
            case .companionFiles(let device): try fields.tagged(15) { try $0.octets(device) }
            case .makeToken(let name, let seconds, let names, let shown):
                try fields.tagged(16) { call in
                    try call.text(name); try call.integer(seconds)
                    try call.octets(names.joined); try call.text(shown)
                }
            case .redeem(let token): try fields.tagged(17) { try $0.octets(token) }
            case .admitByToken(let request): try fields.tagged(18) { try $0.octets(request) }
            case .enterByToken(let statement): try fields.tagged(19) { try $0.octets(statement) }
            case .revokeToken(let verification): try fields.tagged(20) { try $0.octets(verification) }
            case .makeRecoveryKey: fields.tagged(21) { _ in }
            case .endRecoveryKey: fields.tagged(22) { _ in }
            case .findByRecoveryKey(let statement): try fields.tagged(23) { try $0.octets(statement) }
            case .followByRecoveryKey(let statement): try fields.tagged(24) { try $0.octets(statement) }
            case .enterByRecoveryKey(let name): try fields.tagged(25) { try $0.text(name) }
            case .signKeyCard(let digest): try fields.tagged(26) { try $0.octets(digest) }
            case .confirmRecoveryKey: fields.tagged(27) { _ in }
            }
        }
    }
}
