import CGtk
import VaubanPrompt

/// The part of the sheet where the user answers: entries and choices, and the buttons.
@MainActor final class SheetAnswers {
    let widget: UnsafeMutablePointer<GtkWidget>
    let buttons: UnsafeMutablePointer<GtkWidget>
    let entry = PasscodeEntry()
    let newPasscode = NewPasscodeEntries()
    let recoveryKey = RecoveryKeyPicture()
    let cancel: UnsafeMutablePointer<GtkWidget>
    let fallback: UnsafeMutablePointer<GtkWidget>
    let confirm: UnsafeMutablePointer<GtkWidget>
    private let instruction = Line("sheet-instruction")
    private let entryName = Line("sheet-entry-name", alignment: 0)
    private let current: UnsafeMutablePointer<GtkWidget>
    // Screen readers announce an alert when its text changes.
    private let notice = Line("sheet-notice", role: GTK_ACCESSIBLE_ROLE_ALERT)
    private let choices: UnsafeMutablePointer<GtkWidget>
    private var choiceButtons: [(number: Int, button: UnsafeMutablePointer<GtkWidget>)] = []
    private var takesPasscode = false

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        current = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
        for part in [entryName.widget, entry.widget] { gtk_box_append(sheet_box(current), part) }
        choices = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4)
        gtk_widget_set_halign(choices, GTK_ALIGN_CENTER)
        sheet_name(choices, "What to allow")
        cancel = gtk_button_new()
        fallback = gtk_button_new()
        confirm = gtk_button_new()
        gtk_widget_add_css_class(confirm, "suggested-action")
        buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10)
        gtk_widget_add_css_class(buttons, "sheet-buttons")
        gtk_box_set_homogeneous(sheet_box(buttons), 1)
        for button in [cancel, fallback, confirm] { gtk_box_append(sheet_box(buttons), button) }
        let parts = [instruction.widget, current, newPasscode.widget, recoveryKey.widget, notice.widget, choices]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
        sheet_described_by(entry.widget, notice.widget)
    }

    /// Shows a view; `digits` provides the digits of its recovery key.
    func show(_ view: SheetView, after before: SheetView?, digits: @escaping ((UnsafeRawBufferPointer) -> Void) -> Void) {
        let isNew = view.request != before?.request
        if isNew || view.misses != before?.misses { erase() }
        if view.rejections != before?.rejections { newPasscode.erase() }
        if isNew || view.recoveryKey != before?.recoveryKey { recoveryKey.show(view.recoveryKey, digits) }
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
        sheet_name(entry.widget, view.entryName)
        // If there is only one entry, the instruction already names it.
        entryName.show(view.newPasscode == nil ? "" : view.entryName)
        gtk_widget_set_visible(current, view.entry == .hidden ? 0 : 1)
        gtk_widget_set_sensitive(entry.widget, takesPasscode ? 1 : 0)
        newPasscode.show(view.newPasscode, isUsable: takesPasscode)
        gtk_widget_set_sensitive(choices, takesPasscode ? 1 : 0)
        typed()
        let wasOpen = before?.entry == .open && !isNew
        if takesPasscode, !wasOpen || view.misses != before?.misses {
            gtk_widget_grab_focus(entry.widget)
        } else if takesPasscode, view.rejections != before?.rejections {
            gtk_widget_grab_focus(newPasscode.new.widget)
        } else if isNew, view.recoveryKey != nil {
            // Return does nothing on the picture.
            gtk_widget_grab_focus(recoveryKey.canvas)
        } else if isNew {
            // Pressing this button by accident does no harm.
            gtk_widget_grab_focus(cancel)
        }
    }

    /// Enables the confirm button if the user has given an answer, and disables it otherwise.
    func typed() {
        let isAnswered = takesPasscode ? firstEmpty == nil : recoveryKey.isWritten
        gtk_widget_set_sensitive(confirm, isAnswered ? 1 : 0)
    }

    /// The first visible entry without text.
    var firstEmpty: PasscodeEntry? {
        if entry.isEmpty { return entry }
        return gtk_widget_get_visible(newPasscode.widget) != 0 ? newPasscode.firstEmpty : nil
    }

    /// Calls `body` with the passcode, in GTK's own memory, and the choice. Then overwrites the passcode.
    func take(_ body: (UnsafeRawBufferPointer, Int?) -> Void) {
        guard takesPasscode, !entry.isEmpty else { return }
        let chosen = choiceButtons.first { gtk_check_button_get_active(sheet_check($0.button)) != 0 }?.number
        body(entry.bytes, chosen)
        erase()
        sheet_overwrite_stack()
    }

    /// Calls `body` with the current passcode, the new one and its repetition, in GTK's own memory. Then overwrites all three if it returns
    /// true, otherwise the new ones.
    func takeNew(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) {
        guard takesPasscode, firstEmpty == nil else { return }
        if body(entry.bytes, newPasscode.new.bytes, newPasscode.repetition.bytes) { erase() } else { newPasscode.erase() }
        sheet_overwrite_stack()
    }

    /// Erases what was typed, and removes the texts of the prompt.
    func clear() {
        erase()
        newPasscode.clear()
        recoveryKey.show(nil) { _ in }
        offer([])
        for line in [instruction, entryName, notice] { line.show("") }
        for button in [cancel, fallback, confirm] { gtk_button_set_label(sheet_button(button), "") }
    }

    func erase() {
        entry.erase()
        newPasscode.erase()
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
        // GTK must not read the title as a mnemonic: an underscore in a caller's title is an underscore.
        if let text { gtk_button_set_label(sheet_button(button), text) }
    }
}
