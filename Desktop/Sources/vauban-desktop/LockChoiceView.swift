import CGtk
import DesktopKeychain

/// The choices of when the keychain locks. One button applies them, so that a single prompt lists all changes.
@MainActor final class LockChoiceView {
    let widget: Widget
    private var choice: LockChoice
    private let button: Widget = gtk_button_new_with_label("Change")
    private var isEnabled = true

    /// `make` is called with the change that the user chose.
    init(_ choice: LockChoice, make: @escaping @MainActor (KeychainChange) -> Void) {
        self.choice = choice
        widget = Make.column(8, [])
        let screen: Widget = gtk_check_button_new_with_label("Lock with the screen")
        gtk_check_button_set_active(sheet_check(screen), choice.locksWithScreen ? 1 : 0)
        let parts = [
            Make.label("After this time without use", style: "desktop-field-title"),
            lengths(choice.idleLengths, chosen: choice.idleSeconds, name: { "Without use: \($0)" }) { $0.choice.idleSeconds = $1 },
            screen,
            Make.label("After this time from sleep or a screen lock", style: "desktop-field-title"),
            lengths(choice.graceLengths, chosen: choice.graceSeconds, name: { "From sleep: \($0)" }) { $0.choice.graceSeconds = $1 },
            Make.row(8, [button]),
        ]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
        on(button, signal: "clicked") { [weak self] in
            if let self, let change = self.choice.change { make(change) }
        }
        on(screen, signal: "toggled") { [weak self] in
            self?.choice.locksWithScreen = gtk_check_button_get_active(sheet_check(screen)) != 0
            self?.show()
        }
        show()
    }

    /// Returns a group of choices, one of which is active. `name` returns the name of a choice for screen readers.
    private func lengths(
        _ lengths: [LockChoice.Length], chosen seconds: Int64, name: (String) -> String,
        choose chosen: @escaping @MainActor (LockChoiceView, Int64) -> Void
    ) -> Widget {
        var first: Widget?
        let buttons = lengths.map { length in
            let button: Widget = gtk_check_button_new_with_label(length.words)
            sheet_name(button, name(length.words))
            if let first { gtk_check_button_set_group(sheet_check(button), sheet_check(first)) }
            first = first ?? button
            gtk_check_button_set_active(sheet_check(button), length.seconds == seconds ? 1 : 0)
            on(button, signal: "toggled") { [weak self] in
                guard let self, gtk_check_button_get_active(sheet_check(button)) != 0 else { return }
                chosen(self, length.seconds)
                show()
            }
            return button
        }
        return Make.flow(buttons)
    }

    /// Enables the choices, or disables them while a change waits for the user.
    func setEnabled(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
        gtk_widget_set_sensitive(widget, isEnabled ? 1 : 0)
        show()
    }

    private func show() { gtk_widget_set_sensitive(button, isEnabled && choice.change != nil ? 1 : 0) }
}
