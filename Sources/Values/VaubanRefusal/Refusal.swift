package import SwiftASN1
package import VaubanDER

/// Why a request was not carried out, in the rooms' own vocabulary. Each door maps it once to its foreign one. Branch on
/// `reason`; `detail` is for people and never carries a value, a passcode or an attribute.
package struct Refusal: Error, Hashable, Sendable {
    package enum Reason: Int64, CaseIterable, Sendable {
        // The caller's bytes.
        case malformed = 1
        case unknownRequest = 2
        // The caller's conduct.
        case badParameter = 10
        case noSuchAttribute = 11
        case duplicateItem = 12
        case itemNotFound = 13
        case missingEntitlement = 14
        case unsupported = 15
        case dataTooLarge = 16
        case notAllowedHere = 17
        case noSuchClass = 18
        // Refused by the state of the device, by policy or by the user.
        case locked = 20
        case beforeFirstUnlock = 21
        case interactionNotAllowed = 22
        case nobodyToAsk = 23
        case passcodeNotSet = 24
        case authenticationFailed = 25
        case cancelled = 26
        case fallbackChosen = 27
        case lockedOut = 28
        case passcodeTooWeak = 30
        case passcodeAlreadySet = 31
        case userTimeOver = 32
        case biometryNotAvailable = 33
        /// No finger of this user is enrolled, or not those that the item was made for.
        case biometryNotEnrolled = 34
        /// Too many fingers failed, too long without a passcode, or the enclave restarted: the passcode comes first.
        case biometryLockedOut = 35
        case recoveryKeyNotSet = 36
        case applicationPasswordMissing = 37
        /// A private key that another enclave made, or this one before it was erased.
        case keyOfAnotherDevice = 38
        /// The bytes of a private key were altered.
        case keyDamaged = 39
        // Ours.
        case unavailable = 40
        case storageFull = 41
        case storageFailed = 42
        case stateUnreadable = 43
        case internalFault = 44
        // Between rooms only: the row's class key no longer exists, the row does not open, the keys have changed.
        case keyDestroyed = 50
        case rowDamaged = 51
        case keysChanged = 52
        /// The enclave has never heard of the key that wraps a row: an older keybag was put back, or a stranger's row.
        case keyUnknown = 53
    }

    package let reason: Reason
    package let detail: String?
    /// Passcode tries before the next delay, where that is the matter.
    package let triesLeft: Int64?
    /// Seconds until the next try is allowed, where that is the matter.
    package let secondsToWait: Int64?

    package init(_ reason: Reason, _ detail: String? = nil, triesLeft: Int64? = nil, secondsToWait: Int64? = nil) {
        self.reason = reason
        self.detail = detail
        self.triesLeft = triesLeft
        self.secondsToWait = secondsToWait
    }
}

/// `Refusal ::= SEQUENCE { reason INTEGER, detail [0] UTF8String OPTIONAL, triesLeft [1] INTEGER OPTIONAL,
///   secondsToWait [2] INTEGER OPTIONAL }`
extension Refusal: DERReadable, DERWritable {
    private static let detailBytesMax = 512

    package init(from fields: inout DERFields) throws {
        guard let reason = Reason(rawValue: try fields.integer("reason", in: 1...255)) else { throw DERError("reason is unknown") }
        self.reason = reason
        detail = try fields.optionalText(0, "detail", max: Self.detailBytesMax)
        triesLeft = try fields.optionalInteger(1, "tries left", in: 0...100)
        secondsToWait = try fields.optionalInteger(2, "seconds to wait", in: 0...1_000_000)
    }

    /// As many whole characters as fit.
    private static func bounded(_ detail: String) -> String {
        var text = detail
        while text.utf8.count > detailBytesMax { text.removeLast() }
        return text
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(reason.rawValue)
            try fields.optionalText(0, detail.map(Self.bounded))
            try fields.optionalInteger(1, triesLeft)
            try fields.optionalInteger(2, secondsToWait)
        }
    }
}
