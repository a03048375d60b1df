import CGtk

/// An entry for a passcode. It shows stars; what was typed is in memory that is never swapped, and is overwritten when freed.
@MainActor struct PasscodeEntry {
    let widget: UnsafeMutablePointer<GtkWidget> = gtk_password_entry_new()
    /// The typed text; the entry itself has stars.
    private let signs: UnsafeMutablePointer<GtkEntryBuffer>

    init() {
        signs = sheet_take_signs(widget)
        gtk_editable_set_max_width_chars(sheet_editable(widget), 40)
    }

    var isEmpty: Bool { gtk_editable_get_text(sheet_editable(widget)).map { $0.pointee == 0 } ?? true }

    /// The typed bytes where GTK stores them, until the text changes.
    var bytes: UnsafeRawBufferPointer {
        guard let text = gtk_entry_buffer_get_text(signs) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: text, count: strlen(text))
    }

    /// Overwrites the buffer in place first: GTK only moves the end of the text.
    func erase() {
        guard let text = gtk_entry_buffer_get_text(signs), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(widget), "")
    }
}
