import CGtk
import VaubanPrompt

/// The window. It shows each view of the agent as a whole, and passes on what the user does.
@MainActor final class SheetWindow {
    /// The only window of the process.
    static var current: SheetWindow?

    private let agent: SheetAgent
    private let window: UnsafeMutablePointer<GtkWidget>
    private let wording = SheetWording()
    private let finger = FingerPicture()
    private let answers: SheetAnswers
    let unseen: UnseenNotice
    private var shown: SheetView?
    private var alarm: UInt32 = 0
    private var estimation: UInt32 = 0
    /// How long nothing is typed before a new passcode is estimated, which takes a process.
    private static let typingPauseMilliseconds: UInt32 = 250

    init(_ agent: SheetAgent) {
        self.agent = agent
        window = sheet_window_of_role(GTK_ACCESSIBLE_ROLE_DIALOG)
        answers = SheetAnswers()
        unseen = UnseenNotice(window)
        gtk_window_set_title(sheet_window(window), "Vauban")
        gtk_window_set_icon_name(sheet_window(window), "dialog-password")
        gtk_window_set_resizable(sheet_window(window), 0)
        // With its own title bar, so that its name is visible under any window manager, or none.
        gtk_window_set_titlebar(sheet_window(window), gtk_header_bar_new())
        let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14)
        gtk_widget_add_css_class(column, "sheet")
        gtk_widget_set_size_request(column, 430, -1)
        for part in [wording.widget, finger.widget, answers.widget] { gtk_box_append(sheet_box(column), part) }
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
        sheet_on(
            answers.newPasscode.new.widget, "changed", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.estimateLater() } }, nil)
        let key = answers.recoveryKey
        sheet_on(key.written, "toggled", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.answers.typed() } }, nil)
        sheet_on(
            key.tell, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.answers.recoveryKey.tellScreenReaders() } }, nil)
        sheet_on(answers.cancel, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.cancel() } }, nil)
        sheet_on(answers.fallback, "clicked", { _, _ in MainActor.assumeIsolated { SheetWindow.current?.fallBack() } }, nil)
        // Closing the window cancels; the view decides what happens to the window.
        sheet_on_close(
            window,
            { _, _ in
                MainActor.assumeIsolated { SheetWindow.current?.cancel() }; return 1
            }, nil)
        // Before the entry handles the key, which may use Escape itself.
        guard let keys = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        sheet_on_key(
            keys,
            { _, key, _, _, _ in
                guard key == UInt32(GDK_KEY_Escape) else { return 0 }
                MainActor.assumeIsolated { SheetWindow.current?.cancel() }
                return 1
            }, nil)
        gtk_widget_add_controller(window, keys)
    }

    /// Shows the current view.
    func refresh() {
        if alarm != 0 { g_source_remove(alarm) }
        alarm = 0
        guard let view = agent.view else { return leave() }
        if let seconds = view.secondsToNext { wake(after: seconds) }
        guard view != shown else { return }
        let isNew = view.request != shown?.request, replacesAnother = isNew && shown != nil
        if Appearance.isDark(window) {
            gtk_widget_add_css_class(window, "sheet-dark")
        } else {
            gtk_widget_remove_css_class(window, "sheet-dark")
        }
        if isNew { sheet_name(window, "Vauban: \(view.application) \(view.wish)") }
        wording.show(view)
        finger.show(view.finger)
        answers.show(view, after: shown) { [agent] body in agent.withRecoveryKey(view.request, body) }
        shown = view
        if isNew {
            // The window of the last prompt may be on another workspace; a new window appears on the current one.
            if replacesAnother { gtk_widget_set_visible(window, 0) }
            gtk_window_present(sheet_window(window))
            unseen.questionBegan()
        }
    }

    /// The user clicked the notification: shows the window again, since a new window appears on the current workspace.
    func comeForward(_ token: UnsafePointer<CChar>?) {
        guard shown != nil else { return }
        gtk_widget_set_visible(window, 0)
        if let token { gtk_window_set_startup_id(sheet_window(window), token) }
        gtk_window_present(sheet_window(window))
    }

    private func leave() {
        guard shown != nil else { return }
        shown = nil
        unseen.questionEnded()
        answers.erase()
        answers.recoveryKey.show(nil) { _ in }
        finger.show(.hidden)
        gtk_widget_set_visible(window, 0)
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
        if shown.recoveryKey != nil {
            if answers.recoveryKey.isWritten { agent.recoveryKeySeen(shown.request) }
            return
        }
        if shown.newPasscode != nil {
            if let empty = answers.firstEmpty {
                gtk_widget_grab_focus(empty.widget)
                return
            }
            return answers.takeNew { agent.answer($0, new: $1, repeated: $2, to: shown.request) }
        }
        answers.take { agent.answer($0, choice: $1, to: shown.request) }
    }

    /// Estimates the new passcode once the user pauses.
    private func estimateLater() {
        if estimation != 0 { g_source_remove(estimation) }
        estimation = g_timeout_add(
            Self.typingPauseMilliseconds,
            { _ in
                MainActor.assumeIsolated { SheetWindow.current?.estimate() }
                return 0
            }, nil)
    }

    private func estimate() {
        estimation = 0
        guard let shown, shown.newPasscode != nil else { return }
        agent.estimate(answers.newPasscode.new.bytes, for: shown.request)
        sheet_overwrite_stack()
    }

    private func cancel() { if let shown { agent.cancel(shown.request) } }
    private func fallBack() { if let shown { agent.fallBack(shown.request) } }
}
