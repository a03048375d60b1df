package import VaubanDER
internal import VaubanAccessPolicy
internal import VaubanRefusal
internal import VaubanSyncModel
internal import VaubanUserModel
internal import VaubanUserWire

/// `EnclaveRequest ::= SEQUENCE { version INTEGER (2), call CHOICE { … } }`, with the numbers below.
extension EnclaveRequest: DERReadable, DERWritable {
    package static let version: Int64 = 2
    package static let wrappedBytesMax = 2048
    package static let reasonBytesMax = 1024
    package static let userNameBytesMax = 512
    package static let retiredMax = 64
    package static let backupKeybagBytesMax = 4096
    /// The size of a recipient's public key.
    package static let recipientBytes = 1216
    /// An encapsulated key of X-Wing and a sealed key of 32 bytes.
    package static let sealedSeriesKeyBytes = 1120 + 32 + 16

    package init(from fields: inout DERFields) throws {
        try fields.version(Self.version)
        let number = try fields.choice("call")
        guard let call = try fields.optional(number, "call", read: { try Self.call(number, &$0) }) else {
            throw DERError("call is missing")
        }
        self = call
    }

    private static func call(_ number: UInt, _ call: inout DERFields) throws -> EnclaveRequest {
        switch number {
        case 0: return .registerCaller(name: try call.optionalText(0, "name", max: userNameBytesMax))
        case 1: return .seal(try call.value("row"))
        case 2:
            return .open(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                reason: try call.optionalText(0, "reason", max: reasonBytesMax), mayPrompt: try call.boolean("may prompt"),
                authorization: try call.optionalOctets(1, "authorization", in: EvaluationResult.handleBytes...EvaluationResult.handleBytes))
        case 3: return .lease
        case 4:
            return .rewrap(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                generation: try call.octets("generation", in: 8...8))
        case 5: return .retire(try call.list("keys", max: retiredMax))
        case 6: return .keyStatus(try call.value("key"))
        case 7: return .consent(try call.value("consent"), reason: try call.optionalText(0, "reason", max: reasonBytesMax))
        case 8: return .identify
        case 9: return .handOver
        case 10: return .user(try call.value("user request"))
        case 11:
            let keybag = try call.optionalOctets(0, "keybag", in: 1...backupKeybagBytesMax)
            guard let use = BackupUse(rawValue: try call.integer("use", in: 1...2)) else { throw DERError("use is unknown") }
            let recipient = try call.optionalOctets(1, "recipient", in: recipientBytes...recipientBytes)
            let isRestoreKey = try call.optional(2, "restore key") { _ in true } ?? false
            return .openBackup(keybag: keybag, use, recipient: recipient, secretIsRestoreKey: isRestoreKey)
        case 12: return .backUp(try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax))
        case 13: return .restoreKeys(try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax))
        case 14: return .circle(try call.value("request"))
        case 15: return .sealForCircle(try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax))
        case 16:
            return .circleItemKeys(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                epoch: try call.integer("epoch", in: 1...Int64(CircleRequest.epochsMax)))
        case 17: return .circleNames
        case 18:
            return .sealForCompanion(
                try call.value("row"), wrapped: try call.octets("wrapped key", in: 1...wrappedBytesMax),
                device: try call.octets("device", in: CircleRequest.deviceBytes...CircleRequest.deviceBytes),
                name: try call.octets("name", in: BlindedNames.nameBytes...BlindedNames.nameBytes))
        case 19: return .makeSeriesKey
        case 20: return .anchorLog(try call.list("links", max: AccessLogLink.countMax))
        case 21: return .openSeriesKey(try call.octets("sealed key", in: sealedSeriesKeyBytes...sealedSeriesKeyBytes))
        case 22:
            guard let team = TeamIdentifier(text: try call.text("team", max: TeamIdentifier.length)) else {
                throw DERError("team is malformed")
            }
            return .nameTeam(team, name: try call.optionalText(0, "name", max: CallerName.teamNameBytesMax))
        case 23: return .signLogHead(try call.value("head"))
        default: throw Refusal(.unknownRequest, "enclave request \(number) is not known to version \(version)")
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Self.version)
            switch self {
            case .registerCaller(let name): try fields.tagged(0) { try $0.optionalText(0, name) }
            case .seal(let row): try fields.tagged(1) { try $0.value(row) }
            case .open(let row, let wrapped, let reason, let mayPrompt, let authorization):
                try fields.tagged(2) { call in
                    try call.value(row)
                    try call.octets(wrapped)
                    try call.optionalText(0, reason)
                    try call.boolean(mayPrompt)
                    try call.optionalOctets(1, authorization)
                }
            case .lease: fields.tagged(3) { _ in }
            case .rewrap(let row, let wrapped, let generation):
                try fields.tagged(4) {
                    try $0.value(row); try $0.octets(wrapped); try $0.octets(generation)
                }
            case .retire(let keys): try fields.tagged(5) { try $0.list(keys) }
            case .keyStatus(let key): try fields.tagged(6) { try $0.value(key) }
            case .consent(let consent, let reason):
                try fields.tagged(7) {
                    try $0.value(consent); try $0.optionalText(0, reason)
                }
            case .identify: fields.tagged(8) { _ in }
            case .handOver: fields.tagged(9) { _ in }
            case .user(let request): try fields.tagged(10) { try $0.value(request) }
            case .openBackup(let keybag, let use, let recipient, let isRestoreKey):
                try fields.tagged(11) {
                    try $0.optionalOctets(0, keybag); try $0.integer(use.rawValue)
                    try $0.optionalOctets(1, recipient)
                    if isRestoreKey { $0.tagged(2) { _ in } }
                }
            case .backUp(let row, let wrapped):
                try fields.tagged(12) {
                    try $0.value(row); try $0.octets(wrapped)
                }
            case .restoreKeys(let row, let wrapped):
                try fields.tagged(13) {
                    try $0.value(row); try $0.octets(wrapped)
                }
            case .circle(let request): try fields.tagged(14) { try $0.value(request) }
            case .sealForCircle(let row, let wrapped):
                try fields.tagged(15) {
                    try $0.value(row); try $0.octets(wrapped)
                }
            case .circleItemKeys(let row, let wrapped, let epoch):
                try fields.tagged(16) {
                    try $0.value(row); try $0.octets(wrapped); try $0.integer(epoch)
                }
            case .circleNames: fields.tagged(17) { _ in }
            case .sealForCompanion(let row, let wrapped, let device, let name):
                try fields.tagged(18) {
                    try $0.value(row); try $0.octets(wrapped)
                    try $0.octets(device); try $0.octets(name)
                }
            case .makeSeriesKey: fields.tagged(19) { _ in }
            case .anchorLog(let links): try fields.tagged(20) { try $0.list(links) }
            case .openSeriesKey(let sealed): try fields.tagged(21) { try $0.octets(sealed) }
            case .signLogHead(let head): try fields.tagged(23) { try $0.value(head) }
            case .nameTeam(let team, let name):
                try fields.tagged(22) {
                    try $0.text(team.text); try $0.optionalText(0, name)
                }
            }
        }
    }
}

/// The name of a key in the keybag: `KeyName ::= SEQUENCE { purpose INTEGER, generation OCTET STRING (SIZE (8)) }`.
package struct KeyName: Hashable, Sendable, DERReadable, DERWritable {
    package let purpose: Int64
    package let generation: [UInt8]

    package init(purpose: Int64, generation: [UInt8]) {
        self.purpose = purpose
        self.generation = generation
    }

    package init(from fields: inout DERFields) throws {
        purpose = try fields.integer("purpose", in: 1...255)
        generation = try fields.octets("generation", in: 8...8)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(purpose)
            try fields.octets(generation)
        }
    }
}
