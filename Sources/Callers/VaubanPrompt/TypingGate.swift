/// Decides whether what the user types is meant for the prompt. A desktop gives the keyboard to a new window at once, so the user may be in
/// the middle of a word for another window, such as the login password for `sudo`, which may be the passcode too. Nothing counts until the
/// user has paused since the window got the keyboard, or has clicked into the window.
public struct TypingGate: Hashable, Sendable {
    private var hasKeyboard: Bool
    private var hasPaused = false
    private var isClicked = false

    /// The shortest time without a key that is a pause, in milliseconds. The keys of a word follow each other faster.
    public static let pauseMilliseconds: UInt32 = 1000

    /// Creates the gate of a new prompt, which is closed.
    public init(hasKeyboard: Bool) { self.hasKeyboard = hasKeyboard }

    /// Whether a key counts.
    public var isOpen: Bool { hasPaused || isClicked }

    /// Whether a pause opens the gate. It begins with the event that was recorded last.
    public var awaitsPause: Bool { hasKeyboard && !isOpen }

    /// Records that the window got the keyboard. The desktop may report this after the click that caused it.
    public mutating func keyboardArrived() {
        hasKeyboard = true
        hasPaused = false
    }

    /// Records that another window got the keyboard.
    public mutating func keyboardLeft() { self = TypingGate(hasKeyboard: false) }

    /// Records a key, and returns whether it counts. A key is proof that the window has the keyboard.
    public mutating func typed() -> Bool {
        hasKeyboard = true
        return isOpen
    }

    /// Records a click or a touch in the window.
    public mutating func clicked() { isClicked = true }

    /// Records that a pause has ended.
    public mutating func paused() { if awaitsPause { hasPaused = true } }
}
