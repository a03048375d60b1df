import CGtk
import DesktopKeychain
import VaubanLinuxHost

/// The content of the unlocked window: the kinds, the list with its search field, and a page.
@MainActor final class ItemBrowser {
    let widget: Widget
    let keychain: ItemKeychain
    let options: Options
    let clipboard: Clipboard
    let locked: @MainActor () -> Void
    private let search: Widget = gtk_search_entry_new()
    private let count = Make.label("", style: "desktop-hint")
    let place: Widget
    private var sections: SectionList?
    var list: RowList?
    var items = ItemList.empty
    private var mark: ListMark?
    private let listing: Listing
    /// Counts searches. A result that belongs to an earlier one is dropped.
    private var filters = 0
    /// Whether the rest of a long list is still searched.
    private var isSearching = false
    private var focusesFound = false
    private var numberFound = 0
    private var isRead = false
    let question = DiscardQuestion()
    /// Whether the user has discarded what was typed into the page, which stays until the next one is ready.
    var isDiscarded = false
    var page: (any Page)?
    /// The item whose page is shown; nil if there is none, or if it is new.
    var shown: ItemRow?
    /// Counts requests for pages. The reply to an earlier one is dropped.
    var requests = 0

    init(keychain: ItemKeychain, options: Options, clipboard: Clipboard, locked: @escaping @MainActor () -> Void) {
        self.keychain = keychain
        self.options = options
        self.clipboard = clipboard
        self.locked = locked
        listing = Listing(keychain)
        place = Make.column(0, [])
        let right = expand(Make.column(0, [question.widget, Make.scrolled(place)]))
        widget = Make.row(0, [])
        let sections = SectionList { [weak self] in self?.filter() }
        let list = RowList { [weak self] row in self?.choose(row) }
        self.sections = sections
        self.list = list
        gtk_widget_add_css_class(search, "desktop-search")
        sheet_name(search, "Search")
        on(search, signal: "changed") { [weak self] in self?.filter() }
        on(search, signal: "activate") { [weak self] in self?.focusFound() }
        on(search, signal: "stop-search") { [weak self] in self?.clearSearch() }
        gtk_label_set_xalign(sheet_label(count), 0.5)
        let middle = Make.column(4, [search, list.widget, count])
        gtk_widget_set_size_request(middle, 290, -1)
        gtk_widget_set_margin_bottom(count, 6)
        let sides = [
            Make.sideButton("dialog-warning-symbolic", "Passwords to Change") { [weak self] in self?.showCheck() },
            Make.sideButton("preferences-system-symbolic", "Settings") { [weak self] in self?.showSettings() },
        ]
        let left = Make.column(0, [sections.widget, Make.column(0, sides, style: "desktop-sides")], style: "desktop-left")
        gtk_widget_set_hexpand(left, 0)
        let parts = [left, Make.separator(GTK_ORIENTATION_VERTICAL), middle, Make.separator(GTK_ORIENTATION_VERTICAL), right]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
        present(HintView("Select an item, or add a password."), of: nil)
    }

    // MARK: The list

    /// Reads the names of all items, and calls `then` when they are shown.
    func reload(then: @escaping @MainActor () -> Void = {}) {
        listing.begin { keychain, _, call, shown in
            let mark = keychain.mark()
            let items = try keychain.list(cancellation: call, progress: shown)
            // A long list arrives in parts, which leave free memory behind.
            desktop_give_back_memory()
            return (items, mark)
        } progress: { [weak self] items in
            // Do not replace a complete list with the beginning of a new one.
            guard let self, mark == nil, items.count > self.items.count else { return }
            show(items, isWhole: false)
        } current: { [weak self] in
            (self?.items ?? .empty, self?.mark)
        } then: { [weak self] result in
            self?.show(result)
            then()
        }
    }

    /// Reads the items that have changed.
    func refresh() {
        guard !listing.isRunning else { return }
        read { keychain, known, _, _ in try keychain.refreshed(known.items, since: known.mark) }
    }

    /// Reads one item, and calls `then` when the list shows it.
    func refresh(_ row: ItemRow, then: @escaping @MainActor () -> Void = {}) {
        read({ keychain, known, _, _ in (try keychain.refreshed(known.items, at: row), known.mark) }, then: then)
    }

    private func read(_ work: @escaping Listing.Work, then: @escaping @MainActor () -> Void = {}) {
        listing.begin(work) { _ in
        } current: { [weak self] in
            (self?.items ?? .empty, self?.mark)
        } then: { [weak self] result in
            self?.show(result)
            then()
        }
    }

    private func show(_ result: Result<Listing.Known, any Error>) {
        switch result {
        case .success(let read):
            mark = read.mark
            show(read.items, isWhole: true)
        case .failure(let error):
            let explanation = Explanation(error)
            if explanation.isLocked { return locked() }
            report(explanation.text)
        }
    }

    private func show(_ items: ItemList, isWhole: Bool) {
        isRead = isWhole
        guard items != self.items else { return showCount() }
        self.items = items
        sections?.show(items)
        filter()
    }

    /// The number of items that are searched at once; the rest of a longer list is searched in the background.
    private static let itemsAtOnce = 20_000
    /// The number of rows added before the window is drawn, more than fit into it. GTK creates widgets for two hundred rows, which takes
    /// longer than the search.
    private static let rowsAtOnce = 50

    private func filter() {
        filters += 1
        let filter = filters
        let text = gtk_editable_get_text(sheet_editable(search)).map { String(cString: $0) } ?? ""
        let (items, words, choice) = (items, ItemList.Words(text), sections?.selected ?? .section(.all))
        let first = min(items.count, Self.itemsAtOnce)
        let found = items.positions(of: choice, matching: words, among: 0..<first)
        list?.show(Array(found.prefix(Self.rowsAtOnce)), of: items, selected: shown)
        numberFound = found.count
        let rest = Array(found.dropFirst(Self.rowsAtOnce))
        isSearching = first < items.count
        guard isSearching else {
            endSearch()
            return addWhenDrawn(rest, of: filter)
        }
        showCount()
        MainLoop.background {
            items.positions(of: choice, matching: words, among: first..<items.count)
        } then: { [weak self] result in
            guard let self, filter == filters, case .success(let more) = result else { return }
            isSearching = false
            numberFound += more.count
            endSearch()
            addWhenDrawn(rest + more, of: filter)
        }
    }

    private func addWhenDrawn(_ rows: [UInt32], of filter: Int) {
        guard !rows.isEmpty else { return }
        MainLoop.postWhenDrawn { [weak self] in
            guard let self, filter == filters else { return }
            list?.add(rows, selected: shown)
        }
    }

    private func endSearch() {
        showCount()
        if focusesFound { list?.focus() }
        focusesFound = false
    }

    /// Moves the focus to the results, once the whole list is searched.
    private func focusFound() {
        if !isSearching || numberFound > 0 { list?.focus() } else { focusesFound = true }
    }

    private func showCount() {
        let items = numberFound == 1 ? "1 item" : "\(numberFound) items"
        switch (numberFound, self.items.isEmpty) {
        case _ where isSearching: report("Searching…")
        case _ where !isRead: report("Reading… \(items) so far")
        case (_, true): report("No items yet")
        case (0, _): report("Nothing found")
        default: report(items)
        }
    }

    /// Shows a message below the list.
    func report(_ text: String) { setText(count, text) }

    func focusSearch() { gtk_widget_grab_focus(search) }

    private func clearSearch() {
        gtk_editable_set_text(sheet_editable(search), "")
        list?.focus()
    }

    /// Closes the page and forgets the list.
    func end() {
        requests += 1
        page?.end()
        page = nil
        listing.end()
        filters += 1
        isSearching = false
        list?.show([], of: .empty, selected: nil)
        items = .empty
    }
}
