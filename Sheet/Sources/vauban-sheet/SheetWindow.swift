import CGtk
import VaubanPrompt

/// The window. It shows each view of the agent, and passes the user's actions on to the agent.
@MainActor final class SheetWindow {
    /// The only window of the process.
    static var current: SheetWindow?

    private let agent: SheetAgent
    private let window: UnsafeMutablePointer<GtkWidget>
    private let wording = SheetWording()
    private let finger = FingerPicture()
    private let answers: SheetAnswers
    private let content: SheetContent
    let unseen: UnseenNotice
    let typing: TypingFilter
    private var shown: SheetView?
    private var alarm: UInt32 = 0
    /// A press of the confirm button, or of Return.
    private var confirmation = RealPress()
    /// A press that leaves an entry. Any program may be able to move the focus over the accessibility bus.
    private var departure = RealPress()

    init(_ agent: SheetAgent) {
        self.agent = agent
        window = sheet_window_of_role(GTK_ACCESSIBLE_ROLE_DIALOG)
        answers = SheetAnswers()
        content = SheetContent([wording.details, finger.widget, answers.widget])
        unseen = UnseenNotice(window)
        typing = TypingFilter(window, [answers.entry, answers.newPasscode.new, answers.newPasscode.repetition])
        gtk_window_set_title(sheet_window(window), "Vauban")
        gtk_window_set_icon_name(sheet_window(window), "dialog-password")
        gtk_window_set_resizable(sheet_window(window), 0)
        // The window has a title bar of its own, so that its name is visible under any window manager, or without one.
        gtk_window_set_titlebar(sheet_window(window), gtk_header_bar_new())
        let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14)
        gtk_widget_add_css_class(column, "sheet")
        gtk_widget_set_size_request(column, 430, -1)
        for part in [wording.picture.widget, wording.head, content.widget, answers.buttons] { gtk_box_append(sheet_box(column), part) }
        gtk_window_set_child(sheet_window(window), column)
        gtk_window_set_default_widget(sheet_window(window), answers.confirm)
        connect()
    }

    private func connect() {
        sheet_on(answers.confirm, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.confirm() } }, nil)
        for entry in [answers.entry, answers.newPasscode.new, answers.newPasscode.repetition] {
            sheet_on(entry.widget, "activate", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.confirm() } }, nil)
            sheet_on(entry.widget, "changed", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.answers.typed() } }, nil)
        }
        connectEstimate()
        sheet_on(
            answers.recoveryKey.written, "toggled", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.answers.typed() } }, nil)
        sheet_on(answers.cancel, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.cancel() } }, nil)
        sheet_on(answers.fallback, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.fallBack() } }, nil)
        // Closing the window cancels; the view decides what happens to the window.
        sheet_on_close(
            window,
            { _, _ in
                MainActor.assumeIsolated { SheetWindow.current?.cancel() }; return 1
            }, nil)
        connectPresses()
    }

    /// Watches real keys and mouse buttons before any part of the window handles them: an entry may use Escape for itself.
    private func connectPresses() {
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        sheet_on_key(
            keys,
            { _, key, _, _, _ in
                MainActor.assumeIsolated { SheetWindow.current?.pressed(key) ?? false } ? 1 : 0
            }, nil)
        gtk_widget_add_controller(window, keys)
        guard let clicks = sheet_clicks() else { return }
        gtk_event_controller_set_propagation_phase(clicks, GTK_PHASE_CAPTURE)
        for signal in ["pressed", "released"] {
            sheet_on_click(clicks, signal, { _, _, x, y, _ in MainActor.assumeIsolated { SheetWindow.current?.pressed(x, y) } }, nil)
        }
        gtk_widget_add_controller(window, clicks)
    }

    /// Handles a key. Returns true if nothing else should handle it.
    private func pressed(_ key: UInt32) -> Bool {
        // A refusal always counts. A key that is not meant for the prompt may still reach a button that refuses.
        if !typing.accepts(key), let shown, shown.entry == .open, Int32(bitPattern: key) != GDK_KEY_Escape {
            agent.typingIgnored(shown.request)
            return true
        }
        let isAtButton = gtk_window_get_focus(sheet_window(window)) == answers.confirm
        switch Int32(bitPattern: key) {
        case GDK_KEY_Escape:
            cancel()
            return true
        case GDK_KEY_F2:
            guard shown?.recoveryKey != nil else { return false }
            answers.recoveryKey.announceToScreenReaders()
            return true
        case GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter:
            departure.note()
            // A Return too many must not dismiss a recovery key.
            if isAtButton || shown?.recoveryKey == nil { confirmation.note() }
        case GDK_KEY_space, GDK_KEY_KP_Space:
            // In an entry, a space is a character of the passcode.
            if isAtButton { confirmation.note() }
        case GDK_KEY_Tab, GDK_KEY_ISO_Left_Tab, GDK_KEY_KP_Tab, GDK_KEY_Up, GDK_KEY_Down: departure.note()
        default: break
        }
        return false
    }

    /// Handles a mouse button or a touch.
    private func pressed(_ x: Double, _ y: Double) {
        typing.clicked()
        departure.note()
        guard let part = gtk_widget_pick(window, x, y, GTK_PICK_DEFAULT) else { return }
        if part == answers.confirm || gtk_widget_is_ancestor(part, answers.confirm) != 0 { confirmation.note() }
    }

    private func connectEstimate() {
        let entry = answers.newPasscode.new.widget
        sheet_on(entry, "changed", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.forgetEstimate() } }, nil)
        guard let focus = gtk_event_controller_focus_new() else { return }
        sheet_on(UnsafeMutableRawPointer(focus), "leave", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.estimate() } }, nil)
        gtk_widget_add_controller(entry, focus)
    }

    /// Shows the current view.
    func refresh() {
        if alarm != 0 { g_source_remove(alarm) }
        alarm = 0
        guard let view = agent.view else { return leave() }
        if let seconds = view.secondsToNext { wake(after: seconds) }
        guard view != shown else { return }
        let isNew = view.request != shown?.request, replacesAnother = isNew && shown != nil
        // A press counts only for the prompt that the user saw.
        if isNew { confirmation.forget() }
        if Appearance.isDark(window) {
            gtk_widget_add_css_class(window, "sheet-dark")
        } else {
            gtk_widget_remove_css_class(window, "sheet-dark")
        }
        if isNew { sheet_name(window, "Vauban: \(view.application) \(view.wish)") }
        content.allowFocus()
        wording.show(view)
        finger.show(view.finger)
        answers.show(view, after: shown) { [agent] body in agent.withRecoveryKey(view.request, body) }
        shown = view
        let hasEntries = view.entry == .open || view.recoveryKey != nil
        content.fit(window, picture: wording.picture.widget, hasEntries: hasEntries)
        if isNew {
            content.scrollToTop()
            // The window of the last prompt may be on another workspace; a new window appears on the current one.
            if replacesAnother { gtk_widget_set_visible(window, 0) }
            gtk_window_present(sheet_window(window))
            typing.promptBegan()
            unseen.promptBegan()
        }
    }

    /// Called when the user clicks the notification. Hides the window and shows it again, since new windows appear on the current
    /// workspace.
    func comeForward(_ token: UnsafePointer<CChar>?) {
        guard shown != nil else { return }
        gtk_widget_set_visible(window, 0)
        if let token { gtk_window_set_startup_id(sheet_window(window), token) }
        gtk_window_present(sheet_window(window))
    }

    private func leave() {
        guard shown != nil else { return }
        shown = nil
        unseen.promptEnded()
        typing.promptEnded()
        gtk_widget_set_visible(window, 0)
        // Texts of hidden widgets stay on the accessibility bus.
        wording.clear()
        answers.clear()
        finger.show(.hidden)
        sheet_name(window, "Vauban")
        sheet_publish_hidden(window)
        sheet_overwrite_stack()
    }

    private func wake(after seconds: Double) {
        alarm = g_timeout_add(
            UInt32(seconds * 1000) + 1,
            { _ in
                MainActor.assumeIsolated {
                    SheetWindow.current?.alarm = 0
                    SheetWindow.current?.refresh()
                }
                return 0
            }, nil)
    }

    private func confirm() {
        guard let shown, shown.confirm != nil else { return }
        let isPressed = confirmation.take()
        if shown.recoveryKey != nil {
            if isPressed, answers.recoveryKey.isWritten { agent.recoveryKeySeen(shown.request) }
            return
        }
        if shown.newPasscode != nil {
            guard isPressed else { return }
            if let empty = answers.firstEmpty {
                gtk_widget_grab_focus(empty.widget)
                return
            }
            return answers.takeNew { agent.answer($0, new: $1, repeated: $2, to: shown.request) }
        }
        answers.take { agent.answer($0, choice: $1, to: shown.request) }
    }

    /// Estimates the new passcode, once the user has typed it and leaves the entry. The estimate goes to the accessibility bus. Estimates
    /// during typing would tell programs there how each part of the passcode can be guessed.
    private func estimate() {
        guard let shown, shown.newPasscode != nil, departure.take() else { return }
        agent.estimate(answers.newPasscode.new.bytes, for: shown.request)
        sheet_overwrite_stack()
    }

    /// Removes the estimate, since the new passcode has changed.
    private func forgetEstimate() {
        departure.forget()
        guard let shown, shown.newPasscode != nil else { return }
        agent.estimate(UnsafeRawBufferPointer(start: nil, count: 0), for: shown.request)
    }

    private func cancel() { if let shown { agent.cancel(shown.request) } }
    private func fallBack() { if let shown { agent.fallBack(shown.request) } }
}
