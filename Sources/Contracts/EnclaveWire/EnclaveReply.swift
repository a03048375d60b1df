package import VaubanAccessPolicy
package import VaubanDER
package import VaubanLogHead
package import VaubanRefusal
package import VaubanSyncModel
package import VaubanUserModel
package import VaubanUserWire

package enum EnclaveReply: Hashable, Sendable {
    case refused(Refusal)
    case done
    /// The registered caller, as the kernel names it.
    case caller(user: UInt32, pid: Int64)
    /// The wrapped item key; the key itself is the secret section.
    case sealed(wrapped: [UInt8])
    /// The item key is the secret section.
    case opened
    case leased(KeyLease)
    /// The user is being prompted at this place; the final reply follows.
    case waitingForUser(place: String)
    /// The request is queued; the final reply follows.
    case queued
    /// The status of a key.
    case keyStatus(KeyStatus)
    /// The identity of the registered caller.
    case identity(CallerIdentity)
    /// The user's choice.
    case consented(ConsentChoice)
    /// The keybag of the opened backup, to be stored in place of the one before; the key of its frames is the secret section.
    case backup(keybag: [UInt8])
    /// The attributes key of an item in a backup is the secret section, followed by its item key unless that stays on another device.
    case restoreKeys(isOfOtherDevice: Bool)
    /// The reply about a circle. When it was opened, the keys of its files, one for each epoch, and of the device's state are the secret
    /// section.
    case circle(CircleReply)
    /// A new first key of a series for the access log, sealed, and the log's last known record. The key is the secret section.
    case seriesKey(sealed: [UInt8], AccessLogEnd)
    /// The last record of the access log that the enclave has recorded, and where the log begins.
    case logEnd(AccessLogAnchor)
    /// The end of an access log, signed.
    case logHead(SignedLogHead)
    /// The reply to a user's request, to be passed on unchanged.
    case user(UserAnswer)

    /// Whether its secret section may carry keys.
    package var mayCarrySecret: Bool {
        switch self {
        case .sealed, .opened, .leased, .backup, .restoreKeys, .circle, .seriesKey: true
        case .refused, .done, .caller, .waitingForUser, .queued, .keyStatus, .identity, .consented, .logEnd, .logHead, .user: false
        }
    }

    /// Number of descriptors sent with the reply.
    package var descriptorCount: Int { if case .user(let answer) = self { answer.descriptorCount } else { 0 } }
}

package enum KeyStatus: Int64, Hashable, Sendable {
    /// The newest key of its purpose.
    case current = 1
    case older = 2
    /// Destroyed for good, together with everything that it wrapped.
    case destroyed = 3
    /// Unknown to this keybag.
    case unknown = 4
}

/// The keys that the enclave leases to keychaind for one user. The keys themselves are in the secret section, 32 bytes each, in the order
/// of `keys`.
package struct KeyLease: Hashable, Sendable, DERReadable, DERWritable {
    package enum Purpose: Hashable, Sendable {
        case metadata(ProtectionClass)
        case firstUnlockIndex
        case deviceIndex
    }

    package struct Key: Hashable, Sendable {
        package let purpose: Purpose
        package let generation: [UInt8]
        package init(purpose: Purpose, generation: [UInt8]) {
            self.purpose = purpose
            self.generation = generation
        }
    }

    package static let keyBytes = 32
    /// The number of slots in a keybag.
    package static let keysMax = 256
    package let user: UInt32
    /// Grows with every lock. A lease from before the last recalled epoch has no class-A keys left.
    package let epoch: Int64
    package let lock: LockState
    package let passcodeIsSet: Bool
    package let keys: [Key]

    package init(user: UInt32, epoch: Int64, lock: LockState, passcodeIsSet: Bool, keys: [Key]) {
        self.user = user
        self.epoch = epoch
        self.lock = lock
        self.passcodeIsSet = passcodeIsSet
        self.keys = keys
    }

    package init(from fields: inout DERFields) throws {
        user = UInt32(try fields.integer("user", in: 0...Int64(UInt32.max)))
        epoch = try fields.integer("epoch", in: 0...Int64.max)
        guard let lock = LockState(rawValue: try fields.integer("lock", in: 0...2)) else { throw DERError("lock is unknown") }
        self.lock = lock
        passcodeIsSet = try fields.boolean("passcode is set")
        keys = try fields.list("keys", max: Self.keysMax, of: Key.self)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(Int64(user))
            try fields.integer(epoch)
            try fields.integer(lock.rawValue)
            try fields.boolean(passcodeIsSet)
            try fields.list(keys)
        }
    }
}

/// `Key ::= SEQUENCE { purpose INTEGER, generation OCTET STRING (SIZE (8)) }`; the purpose is the number of the protection class, 100 for
/// the first-unlock index key, or 101 for the device index key.
extension KeyLease.Key: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        switch try fields.integer("purpose", in: 1...101) {
        case 100: purpose = .firstUnlockIndex
        case 101: purpose = .deviceIndex
        case let number:
            guard let protection = ProtectionClass(number: number) else { throw DERError("purpose is unknown") }
            purpose = .metadata(protection)
        }
        generation = try fields.octets("generation", in: 8...8)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            switch purpose {
            case .firstUnlockIndex: try fields.integer(100)
            case .deviceIndex: try fields.integer(101)
            case .metadata(let protection): try fields.integer(protection.number)
            }
            try fields.octets(generation)
        }
    }
}

extension EnclaveReply: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        try fields.version(EnclaveRequest.version)
        let number = try fields.choice("reply")
        guard let reply = try fields.optional(number, "reply", read: { try Self.reply(number, &$0) }) else {
            throw DERError("reply is missing")
        }
        self = reply
    }

    private static func reply(_ number: UInt, _ reply: inout DERFields) throws -> EnclaveReply {
        switch number {
        case 0: return .refused(try reply.value("refusal"))
        case 1: return .done
        case 2:
            return .caller(
                user: UInt32(try reply.integer("user", in: 0...Int64(UInt32.max))),
                pid: try reply.integer("pid", in: 1...Int64(Int32.max)))
        case 3: return .sealed(wrapped: try reply.octets("wrapped key", in: 1...EnclaveRequest.wrappedBytesMax))
        case 4: return .opened
        case 5: return .leased(try reply.value("lease"))
        case 6: return .user(try reply.value("answer"))
        case 8: return .waitingForUser(place: try reply.text("place", max: 256))
        case 9:
            guard let status = KeyStatus(rawValue: try reply.integer("status", in: 1...4)) else {
                throw DERError("the key status is unknown")
            }
            return .keyStatus(status)
        case 10: return .identity(try reply.value("identity"))
        case 11:
            guard let choice = ConsentChoice(rawValue: try reply.integer("choice", in: 1...255)) else {
                throw DERError("choice is unknown")
            }
            return .consented(choice)
        case 12: return .backup(keybag: try reply.octets("keybag", in: 1...EnclaveRequest.backupKeybagBytesMax))
        case 13: return .restoreKeys(isOfOtherDevice: try reply.boolean("is of another device"))
        case 14: return .circle(try reply.value("circle"))
        case 15:
            let bytes = EnclaveRequest.sealedSeriesKeyBytes
            return .seriesKey(sealed: try reply.octets("sealed key", in: bytes...bytes), try reply.value("end"))
        case 16:
            let end: AccessLogEnd = try reply.value("end")
            return .logEnd(AccessLogAnchor(end: end, began: try reply.optionalInteger(0, "began", in: 0...end.number)))
        case 17: return .logHead(try reply.value("head"))
        case 21: return .queued
        default: throw DERError("reply is unknown")
        }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(EnclaveRequest.version)
            switch self {
            case .refused(let refusal): try fields.tagged(0) { try $0.value(refusal) }
            case .done: fields.tagged(1) { _ in }
            case .caller(let user, let pid):
                try fields.tagged(2) {
                    try $0.integer(Int64(user)); try $0.integer(pid)
                }
            case .sealed(let wrapped): try fields.tagged(3) { try $0.octets(wrapped) }
            case .opened: fields.tagged(4) { _ in }
            case .leased(let lease): try fields.tagged(5) { try $0.value(lease) }
            case .waitingForUser(let place): try fields.tagged(8) { try $0.text(place) }
            case .queued: fields.tagged(21) { _ in }
            case .keyStatus(let status): try fields.tagged(9) { try $0.integer(status.rawValue) }
            case .identity(let identity): try fields.tagged(10) { try $0.value(identity) }
            case .consented(let choice): try fields.tagged(11) { try $0.integer(choice.rawValue) }
            case .backup(let keybag): try fields.tagged(12) { try $0.octets(keybag) }
            case .restoreKeys(let isOfOtherDevice): try fields.tagged(13) { try $0.boolean(isOfOtherDevice) }
            case .circle(let reply): try fields.tagged(14) { try $0.value(reply) }
            case .seriesKey(let sealed, let end):
                try fields.tagged(15) {
                    try $0.octets(sealed); try $0.value(end)
                }
            case .logEnd(let anchor):
                try fields.tagged(16) {
                    try $0.value(anchor.end); try $0.optionalInteger(0, anchor.began)
                }
            case .logHead(let head): try fields.tagged(17) { try $0.value(head) }
            case .user(let answer): try fields.tagged(6) { try $0.value(answer) }
            }
        }
    }
}
