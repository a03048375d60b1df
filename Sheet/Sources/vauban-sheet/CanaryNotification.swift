import CGtk
import Glibc

/// Tells the user that a canary item was used. Which one, and by which program, the command line says: a notification names neither.
@MainActor enum CanaryNotification {
    private static let summary = strdup("A canary item in your keychain was used")
    private static let body = strdup("A program used a secret that nobody should read. To see which: vauban canary")
    /// It stays until the user closes it.
    private static let notification = sheet_notification_new(summary, body, 0, nil)

    /// Shows it, again if it was shown before.
    static func show() {
        sheet_notification_end(notification)
        sheet_notification_begin(notification)
    }
}
