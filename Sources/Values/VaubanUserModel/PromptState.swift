// The state that a prompt shows besides its text, and its changes while the prompt is open.

package import VaubanDER
internal import VaubanPlainText

/// The state of the authentication methods for one prompt.
package struct PromptState: Hashable, Sendable, DERReadable, DERWritable {
    package enum Finger: Int64, CaseIterable, Sendable {
        /// No reader is connected, or no finger is enrolled.
        case none = 0
        /// The reader waits for a finger while the prompt is on the screen.
        case awaited = 1
        /// Too many fingers did not match, in this prompt or since the last passcode, or the last passcode is too long ago: only the
        /// passcode is accepted.
        case disabled = 2
        /// This prompt does not accept a finger.
        case notAsked = 3
    }

    package let finger: Finger
    /// Misses left before fingerprints are disabled.
    package let fingersLeft: Int64
    /// Seconds until a passcode is accepted, after failed attempts; 0: now.
    package let secondsToWait: Int64

    package init(finger: Finger = .none, fingersLeft: Int64 = 0, secondsToWait: Int64 = 0) {
        self.finger = finger
        self.fingersLeft = fingersLeft
        self.secondsToWait = secondsToWait
    }

    package init(from fields: inout DERFields) throws {
        guard let finger = Finger(rawValue: try fields.integer("finger", in: 0...255)) else { throw DERError("finger is unknown") }
        self.finger = finger
        fingersLeft = try fields.integer("fingers left", in: 0...100)
        secondsToWait = try fields.integer("seconds to wait", in: 0...1_000_000)
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(finger.rawValue)
            try fields.integer(fingersLeft)
            try fields.integer(secondsToWait)
        }
    }
}

/// The caller's titles for the two buttons, made safe by `PlainLine`.
package struct PromptTitles: Hashable, Sendable, DERReadable, DERWritable {
    package static let bytesMax = 128
    private static let charactersMax = 32

    /// The title of the cancel button; nil for the agent's own title.
    package let cancel: String?
    /// The title of the fallback button; nil for the agent's own title, empty for no such button.
    package let fallback: String?

    package static let standard = PromptTitles(cancel: nil, fallback: nil)

    package init(cancel: String?, fallback: String?) {
        self.cancel = cancel.map(Self.fit).flatMap { $0.isEmpty ? nil : $0 }
        self.fallback = fallback.flatMap { given in
            let words = Self.fit(given)
            // A title of invisible characters alone does not count as a request to remove the button.
            return words.isEmpty && !given.isEmpty ? nil : words
        }
    }

    private static func fit(_ text: String) -> String { PlainLine.of(text, charactersMax: charactersMax, bytesMax: bytesMax) }

    package init(from fields: inout DERFields) throws {
        let cancel = try fields.optionalText(0, "cancel", max: Self.bytesMax)
        let fallback = try fields.optionalText(1, "fallback", max: Self.bytesMax)
        self.init(cancel: cancel, fallback: fallback)
        // There is one encoding: unsafe titles are refused, not repaired.
        guard self.cancel == cancel, self.fallback == fallback else { throw DERError("a title is not safe to display") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.optionalText(0, cancel)
            try fields.optionalText(1, fallback)
        }
    }
}

/// A change of an open prompt that still requires the same evidence, to update the fingerprint on the screen. Any other change arrives as a
/// new round, and the end of the prompt as its outcome.
package struct PromptUpdate: Hashable, Sendable, DERReadable, DERWritable {
    package enum Change: Int64, CaseIterable, Sendable {
        /// A finger did not match; another attempt is possible.
        case tryAgain = 1
        /// A finger matched. The prompt ends, or requests one more factor.
        case matched = 2
        /// The sensor could not read the finger, which does not count as a miss; `hint` has the advice for the user.
        case hint = 3
        /// No finger is accepted until the passcode is entered.
        case disabled = 4
        /// The reader was disconnected.
        case readerGone = 5
    }

    package let change: Change
    package let fingersLeft: Int64
    /// Present if the change is `hint`; never about enrollment.
    package let hint: FingerHint?

    package init(_ change: Change, fingersLeft: Int64, hint: FingerHint? = nil) {
        self.change = change
        self.fingersLeft = fingersLeft
        self.hint = hint
    }

    package init(from fields: inout DERFields) throws {
        guard let change = Change(rawValue: try fields.integer("change", in: 0...255)) else { throw DERError("change is unknown") }
        self.change = change
        fingersLeft = try fields.integer("fingers left", in: 0...100)
        hint = try fields.optionalInteger(0, "hint", in: 1...255).map { number in
            guard let hint = FingerHint(rawValue: number), !hint.isAboutEnrollment else { throw DERError("hint is unknown") }
            return hint
        }
        guard (hint != nil) == (change == .hint) else { throw DERError("a hint goes with its change") }
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(change.rawValue)
            try fields.integer(fingersLeft)
            try fields.optionalInteger(0, hint?.rawValue)
        }
    }
}
