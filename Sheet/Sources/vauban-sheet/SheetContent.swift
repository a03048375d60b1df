import CGtk

/// The part of the sheet between the program's name and the buttons. It scrolls where the sheet would be taller than the screen, so that
/// the name and the buttons are always visible.
@MainActor final class SheetContent {
    let widget: UnsafeMutablePointer<GtkWidget>
    private let column: UnsafeMutablePointer<GtkWidget>

    /// The room that is left to the panels of a desktop.
    private static let panelHeight: Int32 = 48
    private static let heightMin: Int32 = 120

    init(_ parts: [UnsafeMutablePointer<GtkWidget>]) {
        column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14)
        for part in parts { gtk_box_append(sheet_box(column), part) }
        widget = gtk_scrolled_window_new()
        gtk_scrolled_window_set_policy(sheet_scroller(widget), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_propagate_natural_width(sheet_scroller(widget), 1)
        // The scroll bar stays visible: it is the only sign that there is more.
        gtk_scrolled_window_set_overlay_scrolling(sheet_scroller(widget), 0)
        gtk_scrolled_window_set_child(sheet_scroller(widget), column)
        sheet_name(widget, "Details")
    }

    /// Lets the parts take the keyboard; call it before one is given the focus.
    func allowFocus() { gtk_widget_set_can_focus(widget, 1) }

    /// Gives the content the height that it needs, or that the lowest monitor has for it. If that is too little, the picture makes room.
    /// `hasEntries` is whether a part can take the keyboard.
    func fit(_ window: UnsafeMutablePointer<GtkWidget>, picture: UnsafeMutablePointer<GtkWidget>, hasEntries: Bool) {
        gtk_scrolled_window_set_min_content_height(sheet_scroller(widget), 0)
        gtk_widget_set_visible(picture, 1)
        let needed = Self.natural(GTK_ORIENTATION_VERTICAL, of: column, for: Self.natural(GTK_ORIENTATION_HORIZONTAL, of: column))
        if needed > room(in: window) { gtk_widget_set_visible(picture, 0) }
        let height = min(needed, max(room(in: window), Self.heightMin))
        gtk_scrolled_window_set_min_content_height(sheet_scroller(widget), height)
        // The keyboard comes here to scroll, and only if there is something to scroll.
        let scrolls = height < needed
        gtk_widget_set_focusable(widget, scrolls ? 1 : 0)
        gtk_widget_set_can_focus(widget, scrolls || hasEntries ? 1 : 0)
    }

    /// Shows the beginning: what a program says of itself must not scroll the warnings away.
    func scrollToTop() { gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(sheet_scroller(widget)), 0) }

    private func room(in window: UnsafeMutablePointer<GtkWidget>) -> Int32 {
        let others = Self.natural(GTK_ORIENTATION_VERTICAL, of: window) - Self.natural(GTK_ORIENTATION_VERTICAL, of: widget)
        return sheet_monitor_height_min() - Self.panelHeight - others
    }

    private static func natural(_ orientation: GtkOrientation, of widget: UnsafeMutablePointer<GtkWidget>, for size: Int32 = -1) -> Int32 {
        var natural: Int32 = 0
        gtk_widget_measure(widget, orientation, size, nil, &natural, nil, nil)
        return natural
    }
}
