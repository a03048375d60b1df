import CGtk

/// The page for a keychain that is locked or cannot be reached: a picture, a sentence and one button.
@MainActor final class StatusPage {
    let widget: Widget
    private let title = Make.label("", style: "desktop-calm-title")
    private let text = Make.label("", style: "desktop-hint")
    private let notice = Notice()
    private var button: Widget?
    private let clicked: @MainActor () -> Void

    init(icon: String, _ clicked: @escaping @MainActor () -> Void) {
        self.clicked = clicked
        let picture = Make.icon(icon, size: 96)
        gtk_widget_add_css_class(picture, "desktop-calm-icon")
        widget = Make.column(16, [picture, title, text])
        // The window removes the page and adds it again, so the page holds its own reference.
        g_object_ref_sink(widget)
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        let button = Make.button("", style: "suggested-action") { [weak self] in self?.clicked() }
        gtk_widget_add_css_class(button, "desktop-big")
        gtk_widget_set_halign(button, GTK_ALIGN_CENTER)
        self.button = button
        for label in [title, text, notice.widget] {
            gtk_label_set_justify(sheet_label(label), GTK_JUSTIFY_CENTER)
            gtk_label_set_xalign(sheet_label(label), 0.5)
            gtk_label_set_max_width_chars(sheet_label(label), 50)
        }
        for part in [button, notice.widget] { gtk_box_append(sheet_box(widget), part) }
    }

    func show(_ title: String, _ text: String, button: String) {
        setText(self.title, title)
        setText(self.text, text)
        setVisible(self.text, !text.isEmpty)
        setButton(button)
        notice.clear()
    }

    func setButton(_ title: String) {
        if let button { gtk_button_set_label(sheet_button(button), title) }
    }

    func report(_ text: String, isError: Bool = false) { notice.show(text, isError: isError) }

    func focus() { if let button { gtk_widget_grab_focus(button) } }
}
