// What a prompt agent that draws has to show, as values. Whoever draws it decides nothing.

/// All that is on the sheet at one moment. A newer one takes its place whole.
public struct SheetView: Hashable, Sendable {
    /// A line about the item that a question for consent is about.
    public struct Particular: Hashable, Sendable {
        public let label: String
        public let text: String
    }

    /// Something to know of a program whose name says little.
    public struct Caution: Hashable, Sendable {
        public let text: String
        /// It is a danger, and not only a gap in what is known.
        public let isWarning: Bool

        package init(text: String, isWarning: Bool) {
            self.text = text
            self.isWarning = isWarning
        }
    }

    /// How the picture of the finger looks.
    public enum Finger: Hashable, Sendable {
        /// There is no picture: no reader, or no finger is asked for.
        case hidden
        /// Waits for a touch.
        case waiting
        /// A touch was not recognized or not read, and another is waited for.
        case tryAgain
        case matched
        /// Fingers do not count until a passcode comes.
        case disabled
    }

    /// How long a yes holds.
    public struct Choice: Hashable, Sendable {
        /// 1 once, 2 until the keychain locks, 3 always.
        public let number: Int
        public let title: String
    }

    /// Where the passcode is typed.
    public enum Entry: Hashable, Sendable {
        /// There is none: the passcode is no way to answer.
        case hidden
        case open
        /// It is there, and nothing can be typed: an answer is being checked, or too many were wrong.
        case closed
    }

    /// The one line that changes.
    public struct Notice: Hashable, Sendable {
        public let text: String
        /// Something failed, and the user should look.
        public let isError: Bool

        package init(text: String, isError: Bool) {
            self.text = text
            self.isError = isError
        }
    }

    /// Names the question; another number is another question, and what was typed belongs to the one before.
    public let question: Int
    /// Goes up with each answer that was wrong: the entry starts anew.
    public let misses: Int
    public let application: String
    /// A name in the icon theme or the path of a picture; nil where the system knows none.
    public let icon: String?
    public let wish: String
    public let origin: String
    public let reason: String?
    public let cautions: [Caution]
    public let particulars: [Particular]
    public let finger: Finger
    public let instruction: String
    public let entry: Entry
    public let notice: Notice?
    public let choices: [Choice]
    /// The titles of the buttons; without a title there is no such button.
    public let cancel: String
    public let fallback: String?
    public let confirm: String?
    /// Seconds until the view changes by time alone; nil: it does not.
    public let secondsToNext: Double?
}
