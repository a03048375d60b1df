import CGtk

/// Functions that create widgets with content and style.
@MainActor enum Make {
    static func column(_ spacing: Int32, _ children: [Widget], style: String? = nil) -> Widget {
        filled(gtk_box_new(GTK_ORIENTATION_VERTICAL, spacing), with: children, style: style)
    }

    static func row(_ spacing: Int32, _ children: [Widget], style: String? = nil) -> Widget {
        filled(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, spacing), with: children, style: style)
    }

    /// A row that continues on the next line where the window is too narrow for it.
    static func flow(_ children: [Widget]) -> Widget {
        let box = row(0, children)
        desktop_flow(box)
        return box
    }

    private static func filled(_ box: Widget, with children: [Widget], style: String?) -> Widget {
        for child in children { gtk_box_append(sheet_box(box), child) }
        if let style { gtk_widget_add_css_class(box, style) }
        return box
    }

    /// A label that wraps and never interprets markup.
    static func label(_ text: String, style: String? = nil, role: GtkAccessibleRole = GTK_ACCESSIBLE_ROLE_LABEL) -> Widget {
        let label: Widget = sheet_label_of_role(role)
        gtk_label_set_wrap(sheet_label(label), 1)
        gtk_label_set_wrap_mode(sheet_label(label), PANGO_WRAP_WORD_CHAR)
        gtk_label_set_xalign(sheet_label(label), 0)
        gtk_label_set_text(sheet_label(label), text)
        if let style { gtk_widget_add_css_class(label, style) }
        return label
    }

    /// A label of one line, which is cut off with an ellipsis if it is too long.
    static func line(style: String? = nil) -> Widget {
        let line = label("", style: style)
        gtk_label_set_wrap(sheet_label(line), 0)
        gtk_label_set_ellipsize(sheet_label(line), PANGO_ELLIPSIZE_END)
        return line
    }

    static func button(_ title: String, style: String? = nil, _ clicked: @escaping @MainActor () -> Void) -> Widget {
        let button: Widget = gtk_button_new_with_label(title)
        if let style { gtk_widget_add_css_class(button, style) }
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
        on(button, signal: "clicked", run: clicked)
        return button
    }

    /// A choice whose title wraps. The title is its name for screen readers, which skip the label.
    static func check(_ title: String) -> Widget {
        let check: Widget = gtk_check_button_new()
        desktop_check_set_child(check, expand(label(title, role: GTK_ACCESSIBLE_ROLE_PRESENTATION)))
        sheet_name(check, title)
        return check
    }

    /// A button with an icon. Its name is shown as a tooltip and read by screen readers.
    static func iconButton(_ icon: String, _ name: String, clicked: @escaping @MainActor () -> Void) -> Widget {
        let button: Widget = gtk_button_new_from_icon_name(icon)
        sheet_name(button, name)
        gtk_widget_set_tooltip_text(button, name)
        gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
        on(button, signal: "clicked", run: clicked)
        return button
    }

    /// An icon that screen readers skip, because the text next to it says the same.
    static func icon(_ name: String, size: Int32) -> Widget {
        let image: Widget = desktop_silent_image()
        gtk_image_set_from_icon_name(sheet_image(image), name)
        gtk_image_set_pixel_size(sheet_image(image), size)
        return image
    }

    static func scrolled(_ child: Widget) -> Widget {
        let scroller: Widget = gtk_scrolled_window_new()
        gtk_scrolled_window_set_policy(sheet_scroller(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(sheet_scroller(scroller), child)
        gtk_widget_set_vexpand(scroller, 1)
        return scroller
    }

    /// A flat button with an icon and a text, styled like a row in the list of kinds.
    static func sideButton(_ icon: String, _ title: String, clicked: @escaping @MainActor () -> Void) -> Widget {
        let text = expand(line())
        setText(text, title)
        let button: Widget = gtk_button_new()
        gtk_button_set_child(sheet_button(button), row(10, [Make.icon(icon, size: 16), text]))
        gtk_widget_add_css_class(button, "flat")
        gtk_widget_add_css_class(button, "desktop-side")
        sheet_name(button, title)
        on(button, signal: "clicked", run: clicked)
        return button
    }

    /// A section of a page, with a heading.
    static func part(_ title: String, _ content: Widget) -> Widget {
        column(8, [label(title, style: "desktop-heading"), content])
    }

    /// A row of a card, with a text below a title.
    static func field(_ title: String, _ text: String) -> Widget {
        row(8, [expand(column(2, [label(title, style: "desktop-field-title"), label(text)]))], style: "desktop-field")
    }

    /// The title of an item, with a subtitle below it.
    static func names(_ title: String, _ subtitle: String) -> Widget {
        let lines = [line(style: "desktop-row-title"), line(style: "desktop-row-subtitle")]
        for (line, text) in zip(lines, [title, subtitle]) { setText(line, text) }
        setVisible(lines[1], !subtitle.isEmpty)
        return column(1, lines)
    }

    static func separator(_ orientation: GtkOrientation) -> Widget { gtk_separator_new(orientation) }
}

@MainActor func setVisible(_ widget: Widget, _ isVisible: Bool) { gtk_widget_set_visible(widget, isVisible ? 1 : 0) }

@MainActor func setEnabled(_ widget: Widget, _ isEnabled: Bool) { gtk_widget_set_sensitive(widget, isEnabled ? 1 : 0) }

@MainActor func setText(_ label: Widget, _ text: String) { gtk_label_set_text(sheet_label(label), text) }

@MainActor func expand(_ widget: Widget) -> Widget {
    gtk_widget_set_hexpand(widget, 1)
    return widget
}

/// Removes all children.
@MainActor func empty(_ container: Widget) {
    while let child = gtk_widget_get_first_child(container) { gtk_box_remove(sheet_box(container), child) }
}

/// A message on a page that says what was done, or why not. Screen readers announce it when it changes.
@MainActor final class Notice {
    let widget = Make.label("", style: "desktop-notice", role: GTK_ACCESSIBLE_ROLE_ALERT)

    init() { setVisible(widget, false) }

    func show(_ text: String, isError: Bool = false) {
        setText(widget, text)
        if isError {
            gtk_widget_add_css_class(widget, "desktop-error")
        } else {
            gtk_widget_remove_css_class(widget, "desktop-error")
        }
        setVisible(widget, !text.isEmpty)
    }

    func clear() { show("") }
}
