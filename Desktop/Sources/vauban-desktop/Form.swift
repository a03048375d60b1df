import CGtk

/// A form: named entries, a Cancel button, and a button that Return presses too.
@MainActor final class Form {
    let widget: Widget
    private let card = Make.column(0, [], style: "desktop-card")
    private var first: Widget?
    /// Called when the user saves, with the button or with Return.
    var saved: @MainActor () -> Void = {}

    init(_ title: String, save: String, notice: Notice, cancelled: @escaping @MainActor () -> Void) {
        widget = Make.column(16, [Make.label(title, style: "desktop-title"), card], style: "desktop-page")
        let save = Make.button(save, style: "suggested-action") { [weak self] in self?.saved() }
        let buttons = Make.row(8, [expand(Make.row(0, [])), Make.button("Cancel", cancelled), save])
        for part in [notice.widget, buttons] { gtk_box_append(sheet_box(widget), part) }
    }

    /// Adds an entry of one line.
    func addEntry(_ name: String, _ text: String, hint: String = "") -> Widget {
        let entry: Widget = gtk_entry_new()
        gtk_editable_set_text(sheet_editable(entry), text)
        desktop_set_placeholder(entry, hint)
        sheet_name(entry, name)
        on(entry, signal: "activate") { [weak self] in self?.saved() }
        add(name, entry)
        return entry
    }

    /// Adds an entry of several lines.
    func addNotes(_ name: String, _ text: String) -> Widget {
        let view: Widget = gtk_text_view_new()
        desktop_set_text(view, text)
        gtk_text_view_set_wrap_mode(desktop_text_view(view), GTK_WRAP_WORD_CHAR)
        // Tab moves to the next field, as in every other entry.
        gtk_text_view_set_accepts_tab(desktop_text_view(view), 0)
        sheet_name(view, name)
        // A fixed height: before a text view knows its width, it measures itself as if each line had one letter.
        let scroller = Make.scrolled(view)
        gtk_widget_set_vexpand(scroller, 0)
        gtk_widget_set_size_request(scroller, -1, 90)
        gtk_widget_add_css_class(scroller, "desktop-notes")
        add(name, scroller)
        return view
    }

    /// Adds any other widget, with a name above it.
    func add(_ name: String, _ content: Widget) {
        let title = Make.label(name, style: "desktop-field-title")
        if first == nil { first = content }
        gtk_box_append(sheet_box(card), Make.row(8, [expand(Make.column(4, [title, content]))], style: "desktop-field"))
    }

    func focus() { if let first { gtk_widget_grab_focus(first) } }

    static func text(of entry: Widget) -> String { gtk_editable_get_text(sheet_editable(entry)).map { String(cString: $0) } ?? "" }

    static func lines(of view: Widget) -> String {
        guard let text = desktop_text(view) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
