import CGtk

/// Notifies the user of a prompt in a window that they cannot see. Under Wayland a window cannot raise itself, so a full-screen window can
/// hide it. The notification disappears when the window gets the keyboard focus, or when the prompt ends.
@MainActor final class UnseenNotice {
    private let window: UnsafeMutablePointer<GtkWidget>
    private let notification: UnsafeMutablePointer<sheet_notification>
    private var timer: UInt32 = 0
    /// The last frame before the prompt, and how often the timer has started since.
    private var firstFrame: gint64 = -1
    private var starts = 0

    /// How long the desktop may take to focus the window before the notification appears.
    private static let timeoutMilliseconds: UInt32 = 2000
    /// A desktop focuses a window only after its first frame, which takes a while on a busy machine. The limit is for a window that never
    /// draws.
    private static let startsMax = 5
    /// The longest duration of a prompt, after which the notification of a killed sheet disappears too.
    private static let timeMillisecondsMax: Int32 = 310_000
    private static let summary = strdup("Vauban needs your approval")
    private static let body = strdup("The prompt is behind another window. Click here to show it, or leave full screen.")

    init(_ window: UnsafeMutablePointer<GtkWidget>) {
        self.window = window
        notification = sheet_notification_new(Self.summary, Self.body, Self.timeMillisecondsMax) { token in
            // Valid during this call only, on this thread.
            nonisolated(unsafe) let token = token
            MainActor.assumeIsolated { SheetWindow.current?.comeForward(token) }
        }
        sheet_on_state(window) { MainActor.assumeIsolated { SheetWindow.current?.unseen.stateChanged() } }
    }

    /// The window received a prompt to show.
    func promptBegan() {
        stop()
        firstFrame = sheet_frame(window)
        starts = 0
        start()
    }

    private func start() {
        starts += 1
        // Runs after pending drawing and compositor events, so that a busy machine alone does not trigger the notification.
        timer = g_timeout_add_full(
            G_PRIORITY_LOW, Self.timeoutMilliseconds,
            { _ in
                MainActor.assumeIsolated { SheetWindow.current?.unseen.timeoutEnded() }
                return 0
            }, nil, nil)
    }

    func promptEnded() {
        stop()
        sheet_notification_end(notification)
    }

    fileprivate func stateChanged() {
        if sheet_has_keyboard(window) != 0 { promptEnded() }
    }

    fileprivate func timeoutEnded() {
        timer = 0
        guard sheet_frame(window) > firstFrame || starts >= Self.startsMax else { return start() }
        // The desktop may be busy too. Wait until it has handled everything before concluding that it gives no focus.
        sheet_catch_up(window)
        if sheet_has_keyboard(window) == 0 { sheet_notification_begin(notification) }
    }

    private func stop() {
        if timer != 0 { g_source_remove(timer) }
        timer = 0
    }
}
