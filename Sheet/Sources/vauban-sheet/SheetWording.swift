import CGtk
import VaubanPrompt

/// The program and its action, and below them the details, the cautions and the message.
@MainActor final class SheetWording {
    let picture = ApplicationPicture()
    /// The program and its action.
    let head: UnsafeMutablePointer<GtkWidget>
    let details: UnsafeMutablePointer<GtkWidget>
    private let application = Line("sheet-application")
    private let wish = Line("sheet-wish")
    private let origin = Line("sheet-origin")
    private let reason = Line("sheet-reason")
    private let itemDetails: UnsafeMutablePointer<GtkWidget>
    private let cautions: UnsafeMutablePointer<GtkWidget>

    init() {
        details = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        itemDetails = gtk_grid_new()
        cautions = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)
        gtk_grid_set_column_spacing(sheet_grid(itemDetails), 14)
        gtk_grid_set_row_spacing(sheet_grid(itemDetails), 5)
        gtk_widget_set_halign(itemDetails, GTK_ALIGN_CENTER)
        head = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3)
        for line in [application, wish, origin] { gtk_box_append(sheet_box(head), line.widget) }
        // The program's own message comes last, so that it pushes no caution out of sight.
        for part in [itemDetails, cautions, reason.widget] { gtk_box_append(sheet_box(details), part) }
    }

    func show(_ view: SheetView) {
        picture.show(view.icon, name: view.application)
        application.show(view.application)
        wish.show(view.wish)
        origin.show(view.origin)
        reason.show(view.reason.map { "Message: “\($0)”" } ?? "")
        empty(itemDetails)
        for (row, itemDetail) in view.itemDetails.enumerated() {
            let label = Line("sheet-particular-label", alignment: 1)
            label.show(itemDetail.label)
            let text = Line("sheet-particular", alignment: 0)
            text.show(itemDetail.text)
            gtk_widget_set_valign(label.widget, GTK_ALIGN_START)
            sheet_labelled_by(text.widget, label.widget)
            gtk_grid_attach(sheet_grid(itemDetails), label.widget, 0, Int32(row), 1, 1)
            gtk_grid_attach(sheet_grid(itemDetails), text.widget, 1, Int32(row), 1, 1)
        }
        gtk_widget_set_visible(itemDetails, view.itemDetails.isEmpty ? 0 : 1)
        empty(cautions)
        for caution in view.cautions {
            let line = Line("sheet-caution")
            if caution.isWarning { gtk_widget_add_css_class(line.widget, "sheet-warning") }
            line.show(caution.isWarning ? "Warning: \(caution.text)" : caution.text)
            gtk_box_append(sheet_box(cautions), line.widget)
        }
        gtk_widget_set_visible(cautions, view.cautions.isEmpty ? 0 : 1)
        let hasDetails = view.reason != nil || !view.itemDetails.isEmpty || !view.cautions.isEmpty
        gtk_widget_set_visible(details, hasDetails ? 1 : 0)
    }

    /// Removes the texts of the prompt.
    func clear() {
        for line in [application, wish, origin, reason] { line.show("") }
        for container in [itemDetails, cautions] { empty(container) }
    }

    private func empty(_ container: UnsafeMutablePointer<GtkWidget>) {
        while let child = gtk_widget_get_first_child(container) { gtk_widget_unparent(child) }
    }
}

/// A label that wraps, keeps the direction of its text, and never interprets markup.
@MainActor struct Line {
    let widget: UnsafeMutablePointer<GtkWidget>
    private let signsMax: Int32

    init(_ style: String, alignment: Float = 0.5, role: GtkAccessibleRole = GTK_ACCESSIBLE_ROLE_LABEL) {
        widget = sheet_label_of_role(role)
        gtk_widget_add_css_class(widget, style)
        gtk_label_set_wrap(sheet_label(widget), 1)
        gtk_label_set_wrap_mode(sheet_label(widget), PANGO_WRAP_WORD_CHAR)
        signsMax = alignment == 0.5 ? 46 : 34
        gtk_label_set_max_width_chars(sheet_label(widget), signsMax)
        gtk_label_set_justify(sheet_label(widget), alignment == 0.5 ? GTK_JUSTIFY_CENTER : GTK_JUSTIFY_LEFT)
        gtk_label_set_xalign(sheet_label(widget), alignment)
    }

    /// Hides the line if the text is empty.
    func show(_ text: String) {
        gtk_label_set_text(sheet_label(widget), text)
        // The label asks for its full width; otherwise GTK reserves the height of a narrower one.
        gtk_label_set_width_chars(sheet_label(widget), min(Int32(text.unicodeScalars.count), signsMax))
        gtk_widget_set_visible(widget, text.isEmpty ? 0 : 1)
    }
}
