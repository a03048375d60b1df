import CGtk

/// An entry for a passcode, which shows stars. The typed text is in memory that is never swapped out and is overwritten when freed.
@MainActor struct PasscodeEntry {
    let widget: UnsafeMutablePointer<GtkWidget> = gtk_password_entry_new()
    /// The typed text; the entry itself contains stars.
    private let signs: UnsafeMutablePointer<GtkEntryBuffer>

    init() {
        signs = sheet_take_signs(widget)
        gtk_editable_set_max_width_chars(sheet_editable(widget), 40)
    }

    var isEmpty: Bool { gtk_editable_get_text(sheet_editable(widget)).map { $0.pointee == 0 } ?? true }

    /// The typed bytes in GTK's own memory, valid until the text changes.
    var bytes: UnsafeRawBufferPointer {
        guard let text = gtk_entry_buffer_get_text(signs) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: text, count: strlen(text))
    }

    /// Clears the entry. The buffer is overwritten first, since GTK would only shorten the text.
    func erase() {
        guard let text = gtk_entry_buffer_get_text(signs), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(widget), "")
    }
}
