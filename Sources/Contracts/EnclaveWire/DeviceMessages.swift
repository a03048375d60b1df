// The events that the watcher reports to the enclave. A false event can at worst lock the keychain, or cancel a pending lock in its grace
// period, so that the keychain stays unlocked until sleep or idleness locks it.

package import VaubanDER

/// Watcher to enclave: an event of the machine or of a user's screen.
///
/// `DeviceEvent ::= SEQUENCE { version INTEGER (1), number INTEGER (0..MAX), event CHOICE { watching [0], blind [1],
///   sleeping [2], woke [3], screenLocked [4] { user }, screenUnlocked [5] { user } } }`
package struct DeviceEvent: Hashable, Sendable, DERReadable, DERWritable {
    package enum Kind: Hashable, Sendable {
        /// The watcher follows a login manager.
        case watching
        /// There is no login manager, so neither sleep nor screen locks are reported.
        case blind
        /// The machine is about to sleep or to stop; it waits briefly for the reply.
        case sleeping
        case woke
        case screenLocked(user: UInt32)
        case screenUnlocked(user: UInt32)
    }

    /// Identifies the event in its reply; unique on one connection.
    package let number: Int64
    package let kind: Kind

    package init(number: Int64, _ kind: Kind) {
        self.number = number
        self.kind = kind
    }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        number = try fields.integer("number", in: 0...Int64.max)
        let alternative = try fields.choice("event")
        let kind: Kind? = try fields.optional(alternative, "event") { event in
            switch alternative {
            case 0: return .watching
            case 1: return .blind
            case 2: return .sleeping
            case 3: return .woke
            case 4: return .screenLocked(user: try Self.user(&event))
            case 5: return .screenUnlocked(user: try Self.user(&event))
            default: throw DERError("event is unknown")
            }
        }
        guard let kind else { throw DERError("event is missing") }
        self.kind = kind
    }

    private static func user(_ event: inout DERFields) throws -> UInt32 {
        UInt32(try event.integer("user", in: 0...Int64(UInt32.max)))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(number)
            switch kind {
            case .watching: fields.tagged(0) { _ in }
            case .blind: fields.tagged(1) { _ in }
            case .sleeping: fields.tagged(2) { _ in }
            case .woke: fields.tagged(3) { _ in }
            case .screenLocked(let user): try fields.tagged(4) { try $0.integer(Int64(user)) }
            case .screenUnlocked(let user): try fields.tagged(5) { try $0.integer(Int64(user)) }
            }
        }
    }
}

/// Enclave to watcher: all effects of this event are complete, including recalled leases.
package struct DeviceEventDone: Hashable, Sendable, DERReadable, DERWritable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    package init(from fields: inout DERFields) throws {
        try fields.version(1)
        number = try fields.integer("number", in: 0...Int64.max)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(1)
            try fields.integer(number)
        }
    }
}
