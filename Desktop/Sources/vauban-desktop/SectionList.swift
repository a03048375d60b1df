import CGtk
import DesktopKeychain

/// The kinds of items with their numbers.
@MainActor final class SectionList {
    let widget: Widget
    private let list: Widget = gtk_list_box_new()
    private var rows: [(row: Widget, count: Widget)] = []
    private(set) var selected = ItemSection.all
    private let chosen: @MainActor () -> Void

    init(_ chosen: @escaping @MainActor () -> Void) {
        self.chosen = chosen
        widget = Make.scrolled(list)
        gtk_widget_set_size_request(widget, 226, -1)
        gtk_widget_add_css_class(list, "desktop-sections")
        gtk_list_box_set_selection_mode(desktop_list_box(list), GTK_SELECTION_BROWSE)
        sheet_name(list, "Kinds")
        for section in ItemSection.allCases {
            let title = expand(Make.line())
            setText(title, section.title)
            let count = Make.label("", style: "desktop-count")
            let row: Widget = desktop_list_box_row(Make.row(10, [Make.icon(section.iconName, size: 16), title, count]))
            sheet_name(row, section.title)
            gtk_list_box_append(desktop_list_box(list), row)
            rows.append((row, count))
        }
        desktop_list_box_select(list, 0)
        on(list, "selected-rows-changed") { [weak self] in self?.selectionChanged() }
    }

    func show(_ items: ItemList) {
        for (section, row) in zip(ItemSection.allCases, rows) {
            let count = items.count(in: section)
            setText(row.count, "\(count)")
            sheet_name(row.row, "\(section.title), \(count)")
        }
    }

    private func selectionChanged() {
        guard let section = ItemSection(rawValue: Int(desktop_list_box_selected(list))), section != selected else { return }
        selected = section
        chosen()
    }
}
