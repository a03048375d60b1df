// The content of a prompt agent's window, as values. The code that draws it decides nothing.

/// Everything on the sheet at one moment. A newer view replaces it as a whole.
public struct SheetView: Hashable, Sendable {
    /// A detail of the item that a consent prompt is about.
    public struct ItemDetail: Hashable, Sendable {
        /// What it is, such as the account.
        public let label: String
        /// Its value, as one line.
        public let text: String
    }

    /// A caution about a program whose name is not informative.
    public struct Caution: Hashable, Sendable {
        /// The caution, in whole sentences.
        public let text: String
        /// Whether it warns of a danger; false for missing knowledge.
        public let isWarning: Bool

        package init(text: String, isWarning: Bool) {
            self.text = text
            self.isWarning = isWarning
        }
    }

    /// The state of the picture of the finger.
    public enum Finger: Hashable, Sendable {
        /// No picture: there is no reader, or the prompt accepts no fingerprint.
        case hidden
        /// Waiting for a touch.
        case waiting
        /// A touch was not recognized or not read; waiting for another.
        case tryAgain
        /// A finger was recognized.
        case matched
        /// Fingerprints do not count until a passcode is entered.
        case disabled
    }

    /// How long a consent holds, or for which account.
    public struct Choice: Hashable, Sendable {
        /// 1 for once, 2 until the keychain locks, 3 always, 16 and more for the accounts in order.
        public let number: Int
        /// The title of the choice.
        public let title: String
    }

    /// The state of the passcode entry.
    public enum Entry: Hashable, Sendable {
        /// No entry: the prompt accepts no passcode.
        case hidden
        /// Ready for a passcode.
        case open
        /// Visible but disabled: an answer is being checked, or too many were wrong.
        case closed
    }

    /// The names of the entries for a new passcode, and the estimate for the one being typed.
    public struct NewPasscode: Hashable, Sendable {
        /// The name of the entry for the new passcode.
        public let name: String
        /// The name of the entry for its repetition.
        public let repetition: String
        /// The cost of guessing it; empty if it is unknown.
        public let estimate: String

        package init(name: String, repetition: String, estimate: String) {
            self.name = name
            self.repetition = repetition
            self.estimate = estimate
        }
    }

    /// The status line.
    public struct Notice: Hashable, Sendable {
        /// The text, in whole sentences.
        public let text: String
        /// Whether something failed that the user should notice.
        public let isError: Bool

        package init(text: String, isError: Bool) {
            self.text = text
            self.isError = isError
        }
    }

    /// Identifies the prompt. When the number changes, the input typed so far belongs to the previous prompt.
    public let request: Int
    /// Increases with each wrong answer: the entries are cleared.
    public let misses: Int
    /// Increases with each new passcode that was not accepted: the two entries for it are cleared.
    public let rejections: Int
    /// The name of the program that the prompt is for.
    public let application: String
    /// A name in the icon theme or the path of an image; nil if the system has none.
    public let icon: String?
    /// What the prompt is about, to be read after `application`: `wants to …`.
    public let wish: String
    /// The program's signer, file or Flatpak, and its process; empty if no program asks.
    public let origin: String
    /// The program's own text, to be shown in quotes as its message; nil if it gave none.
    public let reason: String?
    /// Cautions about the program.
    public let cautions: [Caution]
    /// Details of the item.
    public let itemDetails: [ItemDetail]
    /// The state of the picture of the finger.
    public let finger: Finger
    /// What the user can do now; empty for nothing.
    public let instruction: String
    /// The state of the passcode entry.
    public let entry: Entry
    /// The accessible name of the entry, for screen readers.
    public let entryName: String
    /// The entries for a new passcode and its repetition; nil if there are none.
    public let newPasscode: NewPasscode?
    /// The title with which the user confirms having the recovery key, which the agent gives to `withRecoveryKey`; nil if none is shown.
    public let recoveryKey: String?
    /// The status line; nil for none.
    public let notice: Notice?
    /// The choices, of which the user picks one; empty if there are none.
    public let choices: [Choice]
    /// The title of the button that cancels; nil hides it.
    public let cancel: String?
    /// The title of the second button, for `fallBack`; nil hides it.
    public let fallback: String?
    /// The title of the button that answers; nil hides it.
    public let confirm: String?
    /// Seconds until the view changes by time alone; nil if it does not.
    public let secondsToNext: Double?
}
