import CGtk

/// Tells the user, by the desktop's own notification, that a question waits in a window that they do not see: Wayland gives a window no
/// right to come forward, so one that fills the screen hides it. The notification goes when the window has the keyboard, or when the
/// question ends.
@MainActor final class UnseenNotice {
    private let window: UnsafeMutablePointer<GtkWidget>
    private let notification: UnsafeMutablePointer<sheet_notification>
    private var timer: UInt32 = 0

    /// How long a desktop may take to give the window the keyboard before the user counts as not having seen it.
    private static let patienceMilliseconds: UInt32 = 2000
    /// No question lasts longer, so neither does a notification whose sheet was killed.
    private static let timeMillisecondsMax: Int32 = 310_000
    private static let summary = strdup("Vauban has a question for you")
    private static let body = strdup("The window that says who asks is behind another one. Click here to show it, or leave full screen.")

    init(_ window: UnsafeMutablePointer<GtkWidget>) {
        self.window = window
        notification = sheet_notification_new(Self.summary, Self.body, Self.timeMillisecondsMax) { token in
            // Lent by the caller for the length of this call, on this thread.
            nonisolated(unsafe) let token = token
            MainActor.assumeIsolated { SheetWindow.current?.comeForward(token) }
        }
        sheet_on_state(window) { MainActor.assumeIsolated { SheetWindow.current?.unseen.stateChanged() } }
    }

    /// A question was given to the window to show.
    func questionBegan() {
        stop()
        // Looked at after everything that waits to be drawn or to be heard from the compositor, so that a busy machine alone is no reason.
        timer = g_timeout_add_full(
            G_PRIORITY_LOW, Self.patienceMilliseconds,
            { _ in
                MainActor.assumeIsolated { SheetWindow.current?.unseen.patienceEnded() }
                return 0
            }, nil, nil)
    }

    func questionEnded() {
        stop()
        sheet_notification_end(notification)
    }

    fileprivate func stateChanged() {
        if sheet_has_keyboard(window) != 0 { questionEnded() }
    }

    fileprivate func patienceEnded() {
        timer = 0
        if sheet_has_keyboard(window) == 0 { sheet_notification_begin(notification) }
    }

    private func stop() {
        if timer != 0 { g_source_remove(timer) }
        timer = 0
    }
}
