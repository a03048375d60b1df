import CGtk
import VaubanPrompt

/// The user's choices: the lower half of the sheet.
@MainActor final class SheetAnswers {
    let widget: UnsafeMutablePointer<GtkWidget>
    let entry: UnsafeMutablePointer<GtkWidget>
    let cancel: UnsafeMutablePointer<GtkWidget>
    let fallback: UnsafeMutablePointer<GtkWidget>
    let confirm: UnsafeMutablePointer<GtkWidget>
    /// The typed text; the entry itself shows asterisks.
    private let signs: UnsafeMutablePointer<GtkEntryBuffer>
    private let instruction = Line("sheet-instruction")
    // Screen readers read an alert when its text changes.
    private let notice = Line("sheet-notice", role: GTK_ACCESSIBLE_ROLE_ALERT)
    private let choices: UnsafeMutablePointer<GtkWidget>
    private var choiceButtons: [(number: Int, button: UnsafeMutablePointer<GtkWidget>)] = []
    private var takesPasscode = false

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        entry = gtk_password_entry_new()
        // In memory that is never swapped, and is overwritten when freed.
        signs = sheet_take_signs(entry)
        gtk_editable_set_max_width_chars(sheet_editable(entry), 40)
        sheet_name(entry, "Vauban passcode")
        choices = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4)
        gtk_widget_set_halign(choices, GTK_ALIGN_CENTER)
        sheet_name(choices, "What to allow")
        cancel = gtk_button_new()
        fallback = gtk_button_new()
        confirm = gtk_button_new()
        gtk_widget_add_css_class(confirm, "suggested-action")
        let buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10)
        gtk_widget_add_css_class(buttons, "sheet-buttons")
        gtk_box_set_homogeneous(sheet_box(buttons), 1)
        gtk_widget_set_margin_top(buttons, 6)
        for button in [cancel, fallback, confirm] { gtk_box_append(sheet_box(buttons), button) }
        for part in [instruction.widget, entry, notice.widget, choices, buttons] { gtk_box_append(sheet_box(widget), part) }
        sheet_described_by(entry, notice.widget)
    }

    func show(_ view: SheetView, after before: SheetView?) {
        let isNew = view.request != before?.request
        if isNew || view.misses != before?.misses { erase() }
        if isNew || view.choices != before?.choices { offer(view.choices) }
        instruction.show(view.instruction)
        if view.notice != before?.notice || isNew {
            notice.show(view.notice?.text ?? "")
            if view.notice?.isError == true {
                gtk_widget_add_css_class(notice.widget, "sheet-error")
            } else {
                gtk_widget_remove_css_class(notice.widget, "sheet-error")
            }
        }
        title(cancel, view.cancel)
        title(fallback, view.fallback)
        title(confirm, view.confirm)
        takesPasscode = view.entry == .open
        gtk_widget_set_visible(entry, view.entry == .hidden ? 0 : 1)
        gtk_widget_set_sensitive(entry, takesPasscode ? 1 : 0)
        gtk_widget_set_sensitive(choices, takesPasscode ? 1 : 0)
        typed()
        let wasOpen = before?.entry == .open && !isNew
        if takesPasscode, !wasOpen || view.misses != before?.misses {
            gtk_widget_grab_focus(entry)
        } else if isNew {
            // The button that does no harm if it is pressed by accident.
            gtk_widget_grab_focus(cancel)
        }
    }

    /// Updates the buttons: there is an answer, or none.
    func typed() {
        let isEmpty = gtk_editable_get_text(sheet_editable(entry)).map { $0.pointee == 0 } ?? true
        gtk_widget_set_sensitive(confirm, takesPasscode && !isEmpty ? 1 : 0)
    }

    /// Calls `body` with the passcode where GTK stores it, and the choice; then overwrites it.
    func take(_ body: (UnsafeRawBufferPointer, Int?) -> Void) {
        guard takesPasscode, let text = gtk_entry_buffer_get_text(signs) else { return }
        let count = strlen(text)
        guard count > 0 else { return }
        let chosen = choiceButtons.first { gtk_check_button_get_active(sheet_check($0.button)) != 0 }?.number
        body(UnsafeRawBufferPointer(start: text, count: count), chosen)
        erase()
        sheet_overwrite_stack()
    }

    /// Overwrites the buffer in place first: GTK only moves the end of the text.
    func erase() {
        guard let text = gtk_entry_buffer_get_text(signs), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(entry), "")
    }

    private func offer(_ offered: [SheetView.Choice]) {
        while let child = gtk_widget_get_first_child(choices) { gtk_widget_unparent(child) }
        choiceButtons = []
        for choice in offered {
            guard let button = gtk_check_button_new_with_label(choice.title) else { continue }
            if let first = choiceButtons.first {
                gtk_check_button_set_group(sheet_check(button), sheet_check(first.button))
            } else {
                gtk_check_button_set_active(sheet_check(button), 1)
            }
            gtk_box_append(sheet_box(choices), button)
            choiceButtons.append((choice.number, button))
        }
        gtk_widget_set_visible(choices, offered.isEmpty ? 0 : 1)
    }

    private func title(_ button: UnsafeMutablePointer<GtkWidget>, _ text: String?) {
        gtk_widget_set_visible(button, text == nil ? 0 : 1)
        // Not as a mnemonic: an underscore in a caller's title is an underscore.
        if let text { gtk_button_set_label(sheet_button(button), text) }
    }
}
