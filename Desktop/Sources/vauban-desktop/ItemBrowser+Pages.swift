import CGtk
import DesktopKeychain

/// The pages to the right of the list.
extension ItemBrowser {
    private func context() -> PageContext {
        PageContext(keychain, clipboard, hideSeconds: options.hideAfter) { [weak self] in self?.locked() }
    }

    private var actions: PageActions {
        PageActions(
            edit: { [weak self] in self?.edit($0) },
            replaceSecret: { [weak self] page in
                guard let self else { return }
                present(ReplaceSecretView(page, context: context(), actions: actions), of: page.row, focuses: true)
            },
            addCode: { [weak self] page in
                guard let self else { return }
                present(AddCodeView(page, context: context(), actions: actions), of: page.row, focuses: true)
            },
            addedCode: { [weak self] row, page, words in
                self?.refresh(row) { [weak self] in
                    self?.open(page.row, focuses: true) { $0.notice.show(words) }
                }
            },
            showHistory: { [weak self] in self?.showHistory($0, askedIn: $1) },
            showAccess: { [weak self] in self?.showAccess($0, $1) },
            edited: { [weak self] page, code, words in
                guard let code else { self?.changed(page.row, words); return }
                self?.refresh(code) { [weak self] in self?.changed(page.row, words) }
            },
            deleted: { [weak self] page, isKept in
                guard let self else { return }
                present(DeletedView(page, isKept: isKept, context: context(), actions: actions), of: nil, focuses: true)
                refresh(page.row)
            },
            changed: { [weak self] row, words in self?.changed(row, words) },
            back: { [weak self] row in self?.open(row, focuses: true) })
    }

    /// Whether the user typed something into the page that is not saved.
    var hasUnsavedInput: Bool { !isDiscarded && page?.hasUnsavedInput == true }

    /// Leaves the page by `then`; if it has unsaved input, only once the user discards that.
    func leave(_ then: @escaping @MainActor () -> Void) {
        guard hasUnsavedInput else { return then() }
        question.ask { [weak self] in
            self?.isDiscarded = true
            then()
        } kept: { [weak self] in
            self?.page?.focus()
        }
    }

    /// Shows the item that the user selected in the list.
    func choose(_ row: ItemRow) {
        guard hasUnsavedInput else { return open(row) }
        // Until the user decides, the selected item remains that of the page.
        MainLoop.post { [weak self] in
            guard let self else { return }
            list?.select(only: shown)
        }
        leave { [weak self] in
            guard let self else { return }
            list?.select(only: row)
            open(row)
        }
    }

    /// Reads an item again and shows its page.
    func open(_ row: ItemRow, focuses: Bool = false, then: @escaping @MainActor (PageContext) -> Void = { _ in }) {
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
                present(ItemView(page, code: items.code(of: page), context: context, actions: actions), of: page.row, focuses: focuses)
                then(context)
            case .success(nil):
                present(HintView("The item no longer exists."), of: nil)
                refresh(row)
            case .failure(let error):
                let explanation = Explanation(error)
                if explanation.isLocked { return locked() }
                present(HintView(explanation.text), of: nil)
            }
        }
    }

    private func changed(_ row: ItemRow, _ words: String) {
        shown = row
        refresh(row) { [weak self] in
            self?.open(row, focuses: true) { $0.notice.show(words) }
        }
    }

    private func edit(_ page: ItemPage) {
        let context = context()
        do {
            let (code, draft) = (items.code(of: page), try ItemDraft(page))
            present(EditView(page, code: code, draft: draft, context: context, actions: actions), of: page.row, focuses: true)
        } catch {
            present(HintView(Explanation(error).text), of: page.row)
        }
    }

    private func showHistory(_ page: ItemPage, askedIn asking: PageContext) {
        asking.ask { keychain, waiting, call in
            try keychain.earlierValues(of: page.row, waiting: waiting, cancellation: call)
        } then: { [weak self] values in
            guard let self else { return }
            present(HistoryView(page, values: values, context: context(), actions: actions), of: page.row, focuses: true)
        }
    }

    private func showAccess(_ page: ItemPage, _ words: String) {
        prepare { keychain in
            try keychain.access(to: page)
        } then: { browser, access, context in
            browser.present(AccessView(page, access: access, context: context, actions: browser.actions), of: page.row, focuses: true)
            context.notice.show(words)
        }
    }

    /// Shows the page that finds passwords to change.
    func showCheck() {
        leave { [weak self] in
            guard let self else { return }
            present(CheckView(items, context: context(), actions: actions), of: nil, focuses: true)
        }
    }

    /// Shows the settings, with a message.
    func showSettings(_ words: String = "", isError: Bool = false) {
        leave { [weak self] in self?.openSettings(words, isError: isError) }
    }

    private func openSettings(_ words: String, isError: Bool) {
        prepare { keychain in
            try keychain.settings()
        } then: { browser, settings, context in
            let page = SettingsView(settings, context) { [weak browser] words, isError in
                browser?.showSettings(words, isError: isError)
            }
            browser.present(page, of: nil, focuses: true)
            context.notice.show(words, isError: isError)
        }
    }

    /// Reads what a page needs, then shows the page, unless the user has opened another one in the meantime.
    private func prepare<Value: Sendable>(
        _ work: @escaping @Sendable (ItemKeychain) throws -> Value, then: @escaping @MainActor (ItemBrowser, Value, PageContext) -> Void
    ) {
        let context = context()
        requests += 1
        let (request, keychain) = (requests, keychain)
        MainLoop.background {
            try work(keychain)
        } then: { [weak self] result in
            guard let self, request == requests else { return }
            switch result {
            case .success(let value): then(self, value, context)
            case .failure(let error):
                let explanation = Explanation(error)
                if explanation.isLocked { return locked() }
                present(HintView(explanation.text), of: nil)
            }
        }
    }

    /// Shows the page that adds a password.
    func addItem() {
        leave { [weak self] in self?.showNewItem() }
    }

    private func showNewItem() {
        let before = shown
        let view = NewItemView(context: context(), actions: actions) { [weak self] in
            guard let self else { return }
            if let before { open(before, focuses: true) } else { present(HintView("Select an item, or add a password."), of: nil) }
        }
        present(view, of: nil, focuses: true)
    }

    /// Shows a page in place of the one before, and drops what was typed there. Where the user may not expect that, call this in `leave`.
    func present(_ next: any Page, of row: ItemRow?, focuses: Bool = false) {
        requests += 1
        question.withdraw()
        isDiscarded = false
        page?.end()
        empty(place)
        page = next
        shown = row
        if row == nil { list?.deselect() }
        gtk_box_append(sheet_box(place), next.widget)
        if focuses { next.focus() }
        Residue.erase()
    }
}

/// A sentence in place of a page, for example if no item is selected.
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
