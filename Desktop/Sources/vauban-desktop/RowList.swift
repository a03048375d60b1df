import CGtk
import DesktopKeychain

/// The list of items. GTK creates widgets only for visible rows, so their number does not depend on the number of items.
@MainActor final class RowList {
    /// The only list of the process: the functions that GTK calls take no other data.
    private static weak var current: RowList?

    let widget: Widget
    private let view: Widget
    private var items = ItemList.empty
    private var positions: [UInt32] = []
    private var isReplacing = false
    private let chosen: @MainActor (ItemRow) -> Void

    /// `chosen` is called when the user selects a row with the pointer or the arrow keys.
    init(_ chosen: @escaping @MainActor (ItemRow) -> Void) {
        self.chosen = chosen
        view = desktop_list_new(
            {
                // Set before the call returns, on this thread.
                nonisolated(unsafe) var row: Widget?
                MainActor.assumeIsolated { row = RowList.makeRow() }
                return row
            },
            { child, row, position in
                // Valid during this call, on this thread.
                nonisolated(unsafe) let (child, row) = (child, row)
                MainActor.assumeIsolated { RowList.current?.bind(child, to: row, at: Int(position)) }
            })
        gtk_widget_add_css_class(view, "desktop-list")
        sheet_name(view, "Items")
        widget = Make.scrolled(view)
        Self.current = self
        on(desktop_list_selection(view), signal: "notify::selected") { [weak self] in self?.selectionChanged() }
    }

    /// Shows the items at the given positions of a list, and selects one of them.
    func show(_ positions: [UInt32], of items: ItemList, selected: ItemRow?) {
        isReplacing = true
        self.items = items
        self.positions = positions
        desktop_list_replace(view, UInt32(positions.count))
        select(selected)
        isReplacing = false
    }

    /// Appends items of the same list.
    func add(_ more: [UInt32], selected: ItemRow?) {
        isReplacing = true
        positions += more
        desktop_list_extend(view, UInt32(positions.count))
        if desktop_list_selected(view) == GTK_INVALID_LIST_POSITION { select(selected) }
        isReplacing = false
    }

    private func select(_ selected: ItemRow?) {
        guard let selected, let wanted = items.position(of: selected) else { return }
        if let row = positions.firstIndex(of: UInt32(wanted)) { desktop_list_select(view, UInt32(row)) }
    }

    /// Selects a row, or none if it is not shown, in place of what the user selected.
    func select(only row: ItemRow?) {
        let place = row.flatMap { items.position(of: $0) }.flatMap { positions.firstIndex(of: UInt32($0)) }
        isReplacing = true
        if let place { desktop_list_select(view, UInt32(place)) } else { deselect() }
        isReplacing = false
    }

    /// Clears the selection, so that the user can select the same row again.
    func deselect() { desktop_list_select(view, GTK_INVALID_LIST_POSITION) }

    private func row(at position: Int) -> ItemRow? { positions.indices.contains(position) ? items[Int(positions[position])] : nil }

    /// Moves the focus to the list, and selects the first row if none is selected.
    func focus() {
        if desktop_list_selected(view) == GTK_INVALID_LIST_POSITION, !positions.isEmpty { desktop_list_select(view, 0) }
        gtk_widget_grab_focus(view)
    }

    private func selectionChanged() {
        if !isReplacing, let row = row(at: Int(desktop_list_selected(view))) { chosen(row) }
    }

    private static func makeRow() -> Widget {
        let names = expand(Make.column(1, [Make.line(style: "desktop-row-title"), Make.line(style: "desktop-row-subtitle")]))
        gtk_widget_set_valign(names, GTK_ALIGN_CENTER)
        return Make.row(12, [Make.icon("", size: 20), names])
    }

    private func bind(_ child: Widget?, to row: Widget?, at position: Int) {
        guard let child, let item = self.row(at: position) else { return }
        guard let image = gtk_widget_get_first_child(child), let names = gtk_widget_get_next_sibling(image),
            let title = gtk_widget_get_first_child(names), let subtitle = gtk_widget_get_next_sibling(title)
        else { return }
        gtk_image_set_from_icon_name(sheet_image(image), item.section.iconName)
        setText(title, item.title)
        setText(subtitle, item.subtitle)
        setVisible(subtitle, !item.subtitle.isEmpty)
        guard let row else { return }
        sheet_name(row, [item.title, item.subtitle, item.section.noun].filter { !$0.isEmpty }.joined(separator: ", "))
    }
}
