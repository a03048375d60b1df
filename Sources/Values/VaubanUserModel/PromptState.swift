// What a prompt shows beside its question, and what changes in it while it is open.

package import SwiftASN1
package import VaubanDER
internal import VaubanPlainText

/// How the two ways stand for one prompt, as the enclave sees them.
package struct PromptState: Hashable, Sendable, DERReadable, DERWritable {
    package enum Finger: Int64, CaseIterable, Sendable {
        /// There is no reader, or no finger is enrolled.
        case none = 0
        /// A finger is looked for as soon as the question is on the screen.
        case awaited = 1
        /// Too many did not match, in this prompt or since the last passcode, or no passcode came for too long: only the passcode
        /// counts here.
        case disabled = 2
        /// This question takes no finger.
        case notAsked = 3
    }

    package let finger: Finger
    /// Fingers that may still fail before fingers are disabled.
    package let fingersLeft: Int64
    /// Seconds until a passcode is taken, after too many wrong ones; 0: at once.
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

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(finger.rawValue)
            try fields.integer(fingersLeft)
            try fields.integer(secondsToWait)
        }
    }
}

/// The caller's words on the two buttons. Made by `PlainLine`, so that they are fit to be shown.
package struct PromptTitles: Hashable, Sendable, DERReadable, DERWritable {
    package static let bytesMax = 128
    private static let charactersMax = 32

    /// Nil: the place's own word for it.
    package let cancel: String?
    /// Nil: the place's own word. Empty: there is no such button.
    package let fallback: String?

    package static let standard = PromptTitles(cancel: nil, fallback: nil)

    package init(cancel: String?, fallback: String?) {
        self.cancel = cancel.map(Self.fit).flatMap { $0.isEmpty ? nil : $0 }
        self.fallback = fallback.flatMap { given in
            let words = Self.fit(given)
            // Nothing but invisible signs is no wish to have no button.
            return words.isEmpty && !given.isEmpty ? nil : words
        }
    }

    private static func fit(_ text: String) -> String { PlainLine.of(text, charactersMax: charactersMax, bytesMax: bytesMax) }

    package init(from fields: inout DERFields) throws {
        let cancel = try fields.optionalText(0, "cancel", max: Self.bytesMax)
        let fallback = try fields.optionalText(1, "fallback", max: Self.bytesMax)
        self.init(cancel: cancel, fallback: fallback)
        // One spelling: what is not fit to be shown is not made fit on the way.
        guard self.cancel == cancel, self.fallback == fallback else { throw DERError("a title is not fit to be shown") }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.optionalText(0, cancel)
            try fields.optionalText(1, fallback)
        }
    }
}

/// What happened to an open prompt without another question: for the picture of the finger. What the prompt asks for
/// from now on comes as the question anew, and its end as its outcome.
package struct PromptUpdate: Hashable, Sendable, DERReadable, DERWritable {
    package enum News: Int64, CaseIterable, Sendable {
        /// A finger was not recognized; another is looked for.
        case tryAgain = 1
        /// A finger was recognized. The prompt ends, or asks for one thing more.
        case matched = 2
        /// The sensor could not read the finger, which counts for nothing; `hint` says what would help.
        case hint = 3
        /// No finger counts any more until the passcode comes.
        case disabled = 4
        /// The reader is gone.
        case readerGone = 5
    }

    package let news: News
    package let fingersLeft: Int64
    /// Present where the news is `hint`; none about learning.
    package let hint: FingerHint?

    package init(_ news: News, fingersLeft: Int64, hint: FingerHint? = nil) {
        self.news = news
        self.fingersLeft = fingersLeft
        self.hint = hint
    }

    package init(from fields: inout DERFields) throws {
        guard let news = News(rawValue: try fields.integer("news", in: 0...255)) else { throw DERError("news is unknown") }
        self.news = news
        fingersLeft = try fields.integer("fingers left", in: 0...100)
        hint = try fields.optionalInteger(0, "hint", in: 1...255).map { number in
            guard let hint = FingerHint(rawValue: number), !hint.isAboutLearning else { throw DERError("hint is unknown") }
            return hint
        }
        guard (hint != nil) == (news == .hint) else { throw DERError("a hint goes with its news") }
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            try fields.integer(news.rawValue)
            try fields.integer(fingersLeft)
            try fields.optionalInteger(0, hint?.rawValue)
        }
    }
}
