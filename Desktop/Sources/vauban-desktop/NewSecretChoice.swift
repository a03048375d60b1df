import CGtk
import DesktopKeychain
import VaubanSecretBytes

/// The choice between a generated password, which is never shown, and one that the user types.
@MainActor final class NewSecretChoice {
    let widget: Widget
    private let generate: Widget
    private let type: Widget
    private let entry: Widget = gtk_password_entry_new()
    /// The typed text; the entry itself shows asterisks.
    private let typed: UnsafeMutablePointer<GtkEntryBuffer>

    /// `plan` says what would be generated.
    init(plan: String) {
        generate = gtk_check_button_new_with_label(plan.isEmpty ? "Generate it" : "Generate it: \(plan)")
        type = gtk_check_button_new_with_label("Type it")
        gtk_check_button_set_group(sheet_check(type), sheet_check(generate))
        gtk_check_button_set_active(sheet_check(generate), 1)
        typed = sheet_take_signs(entry)
        sheet_name(entry, "New password")
        widget = Make.column(8, [generate, type, entry])
        setVisible(entry, false)
        on(type, "toggled") { [weak self] in self?.chosen() }
    }

    func focus() { gtk_widget_grab_focus(generate) }

    private var isTyped: Bool { gtk_check_button_get_active(sheet_check(type)) != 0 }

    private func chosen() {
        setVisible(entry, isTyped)
        if isTyped { gtk_widget_grab_focus(entry) } else { erase() }
    }

    /// Returns the chosen secret; nil if nothing is typed.
    func take() -> NewSecret? {
        guard isTyped else { return .generated }
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else { return nil }
        let secret = ItemSecret(SecretBytes(copying: UnsafeRawBufferPointer(start: text, count: Int(gtk_entry_buffer_get_bytes(typed)))))
        return .typed(secret)
    }

    /// Overwrites what was typed.
    func erase() {
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(entry), "")
        Residue.erase()
    }
}
