import CGtk
import Glibc

/// Notifies the user that a canary item was used. The notification names neither the item nor the program; the command line shows both.
@MainActor enum CanaryNotification {
    private static let summary = strdup("A canary item in your keychain was used")
    private static let body = strdup("A program used a secret that nobody should read. To see which: vauban canary")
    /// The notification stays until the user closes it.
    private static let notification = sheet_notification_new(summary, body, 0, nil)

    /// Shows the notification, even if it was shown before.
    static func show() {
        sheet_notification_end(notification)
        sheet_notification_begin(notification)
    }
}
