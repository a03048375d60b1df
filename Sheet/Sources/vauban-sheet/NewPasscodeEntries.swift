import CGtk
import VaubanPrompt

/// The entries for a new passcode and its repetition, with an estimate of how hard it is to guess.
@MainActor final class NewPasscodeEntries {
    let widget: UnsafeMutablePointer<GtkWidget>
    let new = PasscodeEntry()
    let repetition = PasscodeEntry()
    private let newName = Line("sheet-entry-name", alignment: 0)
    private let repetitionName = Line("sheet-entry-name", alignment: 0)
    private let estimate = Line("sheet-estimate", role: GTK_ACCESSIBLE_ROLE_STATUS)

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
        for part in [newName.widget, new.widget, estimate.widget, repetitionName.widget, repetition.widget] {
            gtk_box_append(sheet_box(widget), part)
        }
        sheet_described_by(new.widget, estimate.widget)
        gtk_widget_set_visible(widget, 0)
    }

    /// The first entry without text.
    var firstEmpty: PasscodeEntry? { [new, repetition].first { $0.isEmpty } }

    func show(_ passcode: SheetView.NewPasscode?, isUsable: Bool) {
        gtk_widget_set_visible(widget, passcode == nil ? 0 : 1)
        gtk_widget_set_sensitive(widget, isUsable ? 1 : 0)
        guard let passcode else { return erase() }
        newName.show(passcode.name)
        repetitionName.show(passcode.repetition)
        sheet_name(new.widget, passcode.name)
        sheet_name(repetition.widget, passcode.repetition)
        estimate.show(passcode.estimate)
    }

    /// Erases what was typed, and removes the estimate of it.
    func clear() {
        erase()
        estimate.show("")
    }

    func erase() {
        new.erase()
        repetition.erase()
    }
}
