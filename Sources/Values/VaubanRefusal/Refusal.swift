package import VaubanDER

/// Why a request was refused; `blame` states who must act. Each socket converts a refusal once, to its own wire. Branch on `reason`;
/// `detail` is text for the user, without a period at its end, and never contains a value, a passcode or an attribute.
package struct Refusal: Error, Hashable, Sendable {
    package enum Reason: Int64, CaseIterable, Sendable {
        // The caller's message.
        case malformed = 1
        case unknownRequest = 2
        // The caller's request.
        case badParameter = 10
        case noSuchAttribute = 11
        case duplicateItem = 12
        case itemNotFound = 13
        case missingEntitlement = 14
        case unsupported = 15
        case dataTooLarge = 16
        case notAllowedHere = 17
        case noSuchClass = 18
        // The state of the device, policy, or the user.
        case locked = 20
        case beforeFirstUnlock = 21
        case interactionNotAllowed = 22
        case noPromptAgent = 23
        case passcodeNotSet = 24
        case authenticationFailed = 25
        case cancelled = 26
        case fallbackChosen = 27
        case lockedOut = 28
        case passcodeTooWeak = 30
        case passcodeAlreadySet = 31
        case userTimedOut = 32
        case biometryNotAvailable = 33
        /// No finger of this user is enrolled, or other fingers than the item requires.
        case biometryNotEnrolled = 34
        /// Too many misses, too long since the last passcode, or a restarted enclave: the passcode is required first.
        case biometryLockedOut = 35
        case recoveryKeyNotSet = 36
        case applicationPasswordMissing = 37
        /// A private key of another enclave, or of this one before it was erased.
        case keyOfAnotherDevice = 38
        /// The bytes of a private key were altered.
        case keyDamaged = 39
        // Errors in Vauban or on this machine.
        case unavailable = 40
        case storageFull = 41
        case storageFailed = 42
        case stateUnreadable = 43
        case internalError = 44
        // Between rooms only: the row's class key is destroyed, the row cannot be decrypted, or the keys have changed.
        case keyDestroyed = 50
        case rowDamaged = 51
        case keysChanged = 52
        /// The enclave does not have the key that wraps a row: an older keybag was restored, or the row is foreign.
        case keyUnknown = 53
    }

    package let reason: Reason
    /// A sentence that replaces the reason's own (`detailIsComplete`), or the text that follows that sentence and a colon.
    package let detail: String?
    /// Passcode attempts left before the next delay, if relevant.
    package let attemptsLeft: Int64?
    /// Seconds until the next attempt is allowed, if relevant.
    package let secondsToWait: Int64?
    /// How many earlier values the item has, if it has none with the number that was asked for.
    package let earlierValues: Int64?

    package init(
        _ reason: Reason, _ detail: String? = nil, attemptsLeft: Int64? = nil, secondsToWait: Int64? = nil, earlierValues: Int64? = nil
    ) {
        self.reason = reason
        self.detail = detail
        self.attemptsLeft = attemptsLeft
        self.secondsToWait = secondsToWait
        self.earlierValues = earlierValues
    }
}

extension Refusal.Reason {
    /// Whether the detail is a complete sentence. It then begins with a capital letter, unless a name comes first.
    package var detailIsComplete: Bool {
        switch self {
        case .badParameter, .duplicateItem, .itemNotFound, .unsupported, .dataTooLarge, .notAllowedHere, .interactionNotAllowed,
            .biometryNotAvailable, .unavailable, .storageFull, .keysChanged:
            true
        default: false
        }
    }
}

/// `Refusal ::= SEQUENCE { reason INTEGER, detail [0] UTF8String OPTIONAL, attemptsLeft [1] INTEGER OPTIONAL,
///   secondsToWait [2] INTEGER OPTIONAL, earlierValues [3] INTEGER OPTIONAL }`
extension Refusal: DERReadable, DERWritable {
    private static let detailBytesMax = 512

    package init(from fields: inout DERFields) throws {
        guard let reason = Reason(rawValue: try fields.integer("reason", in: 1...255)) else { throw DERError("reason is unknown") }
        self.reason = reason
        detail = try fields.optionalText(0, "detail", max: Self.detailBytesMax)
        attemptsLeft = try fields.optionalInteger(1, "attempts left", in: 0...100)
        secondsToWait = try fields.optionalInteger(2, "seconds to wait", in: 0...1_000_000)
        earlierValues = try fields.optionalInteger(3, "earlier values", in: 0...Int64.max)
    }

    /// Truncates the text to as many whole characters as fit.
    private static func bounded(_ detail: String) -> String {
        var text = detail
        while text.utf8.count > detailBytesMax { text.removeLast() }
        return text
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(reason.rawValue)
            try fields.optionalText(0, detail.map(Self.bounded))
            try fields.optionalInteger(1, attemptsLeft)
            try fields.optionalInteger(2, secondsToWait)
            try fields.optionalInteger(3, earlierValues)
        }
    }
}
