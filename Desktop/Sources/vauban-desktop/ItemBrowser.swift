import CGtk
import DesktopKeychain

/// The unlocked window: kinds, the list with its search, and the page of an item.
@MainActor final class ItemBrowser {
    let widget: Widget
    private let keychain: ItemKeychain
    private let options: Options
    private let clipboard: Clipboard
    private let locked: @MainActor () -> Void
    private let search: Widget = gtk_search_entry_new()
    private let count = Make.label("", style: "desktop-hint")
    private let place: Widget
    private var sections: SectionList?
    private var list: RowList?
    private var items = ItemList.empty
    private var page: (any Page)?
    /// The item of the page; nil for none, and for a new one.
    private var shown: ItemRow?
    /// Requests that are answered after another one was made are of no interest any more.
    private var requests = 0

    init(_ keychain: ItemKeychain, _ options: Options, _ clipboard: Clipboard, locked: @escaping @MainActor () -> Void) {
        self.keychain = keychain
        self.options = options
        self.clipboard = clipboard
        self.locked = locked
        place = Make.column(0, [])
        let right = expand(Make.scrolled(place))
        widget = Make.row(0, [])
        let sections = SectionList { [weak self] in self?.filter() }
        let list = RowList { [weak self] row in self?.open(row) }
        self.sections = sections
        self.list = list
        gtk_widget_add_css_class(search, "desktop-search")
        sheet_name(search, "Search")
        on(search, "changed") { [weak self] in self?.filter() }
        on(search, "activate") { [weak self] in self?.list?.focus() }
        on(search, "stop-search") { [weak self] in self?.clearSearch() }
        gtk_label_set_xalign(sheet_label(count), 0.5)
        let middle = Make.column(4, [search, list.widget, count])
        gtk_widget_set_size_request(middle, 290, -1)
        gtk_widget_set_margin_bottom(count, 6)
        let parts = [sections.widget, Make.separator(GTK_ORIENTATION_VERTICAL), middle, Make.separator(GTK_ORIENTATION_VERTICAL), right]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
        present(HintView("Select an item, or add a password."), of: nil)
    }

    // MARK: The list

    /// Reads the names of all items in the background, and calls `then` when they are shown.
    func reload(then: @escaping @MainActor () -> Void = {}) {
        let keychain = keychain
        MainLoop.background {
            try keychain.list()
        } then: { [weak self] result in
            self?.show(result)
            then()
        }
    }

    private func show(_ result: Result<ItemList, any Error>) {
        switch result {
        case .success(let items):
            guard items != self.items else { return }
            self.items = items
            sections?.show(items)
            filter()
        case .failure(let error):
            let explanation = Explanation(error)
            if explanation.isLocked { return locked() }
            tell(explanation.text)
        }
    }

    private func filter() {
        let text = gtk_editable_get_text(sheet_editable(search)).map { String(cString: $0) } ?? ""
        let positions = items.positions(in: sections?.selected ?? .all, matching: text)
        list?.show(positions.map { items.rows[$0] }, selected: shown)
        switch (positions.count, items.rows.isEmpty) {
        case (_, true): setText(count, "No items yet")
        case (0, _): setText(count, "Nothing found")
        case (1, _): setText(count, "1 item")
        case (let number, _): setText(count, "\(number) items")
        }
    }

    /// Shows a message below the list.
    func tell(_ text: String) { setText(count, text) }

    func focusSearch() { gtk_widget_grab_focus(search) }

    private func clearSearch() {
        gtk_editable_set_text(sheet_editable(search), "")
        list?.focus()
    }

    // MARK: The page

    private func context() -> PageContext {
        PageContext(keychain, clipboard, hideSeconds: options.hideAfter) { [weak self] in self?.locked() }
    }

    private var actions: PageActions {
        PageActions(
            edit: { [weak self] in self?.edit($0) },
            replaceSecret: { [weak self] page in
                guard let self else { return }
                present(ReplaceSecretView(page, context(), actions), of: page.row, focuses: true)
            },
            showHistory: { [weak self] in self?.showHistory($0) },
            deleted: { [weak self] page in
                guard let self else { return }
                present(DeletedView(page, context(), actions), of: nil, focuses: true)
                reload()
            },
            changed: { [weak self] row, words in self?.changed(row, words) },
            back: { [weak self] row in self?.open(row, focuses: true) })
    }

    /// Shows the page of an item as it is now.
    private func open(_ row: ItemRow, focuses: Bool = false, then: @escaping @MainActor (PageContext) -> Void = { _ in }) {
        requests += 1
        let (request, keychain) = (requests, keychain)
        shown = row
        MainLoop.background {
            try keychain.page(of: row)
        } then: { [weak self] result in
            guard let self, request == requests else { return }
            switch result {
            case .success(let page?):
                let context = context()
                present(ItemView(page, code: items.code(of: page.row), context, actions), of: page.row, focuses: focuses)
                then(context)
            case .success(nil):
                present(HintView("The item no longer exists."), of: nil)
                reload()
            case .failure(let error):
                let explanation = Explanation(error)
                if explanation.isLocked { return locked() }
                present(HintView(explanation.text), of: nil)
            }
        }
    }

    private func changed(_ row: ItemRow, _ words: String) {
        shown = row
        reload { [weak self] in
            self?.open(row, focuses: true) { $0.notice.show(words) }
        }
    }

    private func edit(_ page: ItemPage) {
        let context = context()
        do {
            present(EditView(page, try ItemDraft(page), context, actions), of: page.row, focuses: true)
        } catch {
            present(HintView(Explanation(error).text), of: page.row)
        }
    }

    private func showHistory(_ page: ItemPage) {
        let context = context()
        requests += 1
        let request = requests
        context.ask { keychain, waiting, _ in
            try keychain.earlierValues(of: page.row, waiting: waiting)
        } then: { [weak self] values in
            guard let self, request == requests else { return }
            present(HistoryView(page, values, context, actions), of: page.row, focuses: true)
        }
    }

    /// Shows the page that adds a password.
    func addItem() {
        let before = shown
        let view = NewItemView(context(), actions) { [weak self] in
            guard let self else { return }
            if let before { open(before, focuses: true) } else { present(HintView("Select an item, or add a password."), of: nil) }
        }
        present(view, of: nil, focuses: true)
    }

    private func present(_ next: any Page, of row: ItemRow?, focuses: Bool = false) {
        requests += 1
        page?.end()
        empty(place)
        page = next
        shown = row
        gtk_box_append(sheet_box(place), next.widget)
        if focuses { next.focus() }
        Residue.erase()
    }

    /// Forgets everything that was shown.
    func end() {
        requests += 1
        page?.end()
        page = nil
        list?.show([], selected: nil)
        items = .empty
    }
}

/// A sentence where no item is shown.
@MainActor final class HintView: Page {
    let widget: Widget

    init(_ text: String) {
        widget = Make.label(text, style: "desktop-hint")
        gtk_label_set_xalign(sheet_label(widget), 0.5)
        gtk_widget_set_hexpand(widget, 1)
        gtk_widget_set_vexpand(widget, 1)
        gtk_widget_add_css_class(widget, "desktop-page")
    }

    func end() {}
    func focus() {}
}
