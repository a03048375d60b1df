import CGtk
import DesktopKeychain

/// The list of kinds, with the tags below them, and the number of items of each.
@MainActor final class SectionList {
    let widget: Widget
    private let list: Widget = gtk_list_box_new()
    private var rows: [(row: Widget, count: Widget)] = []
    private var tags: [ItemList.Tag] = []
    private(set) var selected = ItemList.Choice.section(.all)
    private var isReplacing = false
    private let chosen: @MainActor () -> Void
    /// More tags are not listed, but the search finds them.
    private static let tagsMax = 200

    init(_ chosen: @escaping @MainActor () -> Void) {
        self.chosen = chosen
        widget = Make.scrolled(list)
        gtk_widget_set_size_request(widget, 226, -1)
        gtk_widget_add_css_class(list, "desktop-sections")
        gtk_list_box_set_selection_mode(desktop_list_box(list), GTK_SELECTION_BROWSE)
        sheet_name(list, "Kinds and tags")
        for section in ItemSection.allCases { append(section.title, icon: section.iconName) }
        desktop_list_box_select(list, 0)
        on(list, signal: "selected-rows-changed") { [weak self] in self?.selectionChanged() }
    }

    private func append(_ text: String, icon: String) {
        let title = expand(Make.line())
        setText(title, text)
        let count = Make.label("", style: "desktop-count")
        let row: Widget = desktop_list_box_row(Make.row(10, [Make.icon(icon, size: 16), title, count]))
        sheet_name(row, text)
        gtk_list_box_append(desktop_list_box(list), row)
        rows.append((row, count))
    }

    /// Shows the number of items of each kind and tag. If the selected tag no longer exists, all items are selected.
    func show(_ items: ItemList) {
        let tags = items.tags(max: Self.tagsMax)
        if tags.map(\.name) != self.tags.map(\.name) { replaceTags(tags) }
        self.tags = tags
        for (section, row) in zip(ItemSection.allCases, rows) { show(items.count(in: section), of: section.title, in: row) }
        for (tag, row) in zip(tags, rows.dropFirst(ItemSection.allCases.count)) { show(tag.count, of: "Tag \(tag.title)", in: row) }
    }

    private func show(_ count: Int, of title: String, in row: (row: Widget, count: Widget)) {
        setText(row.count, "\(count)")
        sheet_name(row.row, "\(title), \(count)")
    }

    private func replaceTags(_ tags: [ItemList.Tag]) {
        isReplacing = true
        for old in rows.dropFirst(ItemSection.allCases.count) { gtk_list_box_remove(desktop_list_box(list), old.row) }
        rows.removeLast(self.tags.count)
        for tag in tags { append(tag.title, icon: "user-bookmarks-symbolic") }
        if case .tag(let name) = selected {
            let place = tags.firstIndex { $0.name == name }
            if place == nil { selected = .section(.all) }
            desktop_list_box_select(list, Int32(place.map { $0 + ItemSection.allCases.count } ?? 0))
        }
        isReplacing = false
    }

    private func selectionChanged() {
        guard !isReplacing, let choice = choice(at: Int(desktop_list_box_selected(list))), choice != selected else { return }
        selected = choice
        chosen()
    }

    private func choice(at place: Int) -> ItemList.Choice? {
        if let section = ItemSection(rawValue: place) { return .section(section) }
        let place = place - ItemSection.allCases.count
        return tags.indices.contains(place) ? .tag(tags[place].name) : nil
    }
}
