import CGtk
import DesktopKeychain
import VaubanSecretBytes

/// A field in which the user types a secret.
@MainActor struct SecretEntry {
    let widget: Widget = gtk_password_entry_new()
    /// The typed text; the entry itself contains stars.
    private let typed: UnsafeMutablePointer<GtkEntryBuffer>

    init(_ name: String) {
        typed = sheet_take_signs(widget)
        sheet_name(widget, name)
    }

    /// Whether something was typed.
    var hasText: Bool { gtk_entry_buffer_get_length(typed) > 0 }

    /// Returns what was typed; nil if that is nothing.
    func secret() -> ItemSecret? {
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else { return nil }
        return ItemSecret(SecretBytes(copying: UnsafeRawBufferPointer(start: text, count: Int(gtk_entry_buffer_get_bytes(typed)))))
    }

    /// Overwrites what was typed.
    func erase() {
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(widget), "")
        Residue.erase()
    }
}
