import CGtk
import VaubanPrompt

/// Keeps out of the prompt what the user types for another window (`TypingGate`). Meanwhile the entries accept no text, also from input
/// methods and from programs on the accessibility bus, where the window counts as busy.
@MainActor final class TypingFilter {
    private let window: UnsafeMutablePointer<GtkWidget>
    private let entries: [PasscodeEntry]
    private var gate = TypingGate(hasKeyboard: false)
    private var hasKeyboard = false
    private var timer: UInt32 = 0
    /// The last frame before the prompt. What GTK says about the keyboard may be out of date until the next.
    private var firstFrame: gint64 = -1

    init(_ window: UnsafeMutablePointer<GtkWidget>, _ entries: [PasscodeEntry]) {
        self.window = window
        self.entries = entries
        sheet_on_state(window) { MainActor.assumeIsolated { SheetWindow.current?.typing.stateChanged() } }
        follow()
    }

    /// The window received a prompt to show.
    func promptBegan() {
        firstFrame = sheet_frame(window)
        hasKeyboard = sheet_has_keyboard(window) != 0
        // Under X11, window managers need not report the keyboard, and there may be none. Then the pause begins with the prompt.
        gate = TypingGate(hasKeyboard: hasKeyboard || sheet_is_on_x11() != 0)
        follow()
    }

    func promptEnded() {
        gate = TypingGate(hasKeyboard: false)
        follow()
    }

    /// Returns whether a key is meant for the prompt.
    func accepts(_ key: UInt32) -> Bool {
        switch Int32(bitPattern: key) {
        // Shift and its like type nothing by themselves.
        case GDK_KEY_Shift_L...GDK_KEY_Hyper_R, GDK_KEY_ISO_Level3_Shift, GDK_KEY_ISO_Level5_Shift, GDK_KEY_Num_Lock: return true
        default: break
        }
        let isMeant = gate.typed()
        if !isMeant { follow() }
        return isMeant
    }

    /// Called for a click or a touch in the window.
    func clicked() {
        guard !gate.isOpen else { return }
        gate.clicked()
        follow()
    }

    fileprivate func stateChanged() {
        guard (sheet_has_keyboard(window) != 0) != hasKeyboard else { return }
        hasKeyboard.toggle()
        if hasKeyboard { gate.keyboardArrived() } else { gate.keyboardLeft() }
        follow()
    }

    fileprivate func pauseEnded() {
        timer = 0
        if sheet_frame(window) != firstFrame { gate.paused() }
        follow()
    }

    /// Shows whether the gate is open, and waits for a pause from now on if that opens it.
    private func follow() {
        if timer != 0 { g_source_remove(timer) }
        timer = 0
        if gate.awaitsPause {
            // Runs after keys that have arrived already, so that a busy machine does not end a word.
            timer = g_timeout_add_full(
                G_PRIORITY_LOW, TypingGate.pauseMilliseconds,
                { _ in
                    MainActor.assumeIsolated { SheetWindow.current?.typing.pauseEnded() }
                    return 0
                }, nil, nil)
        }
        for entry in entries { sheet_accept_text(entry.widget, gate.isOpen ? 1 : 0) }
        sheet_set_busy(window, gate.isOpen ? 0 : 1)
    }
}
