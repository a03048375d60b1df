import CGtk
import DesktopKeychain

/// The page of one item.
@MainActor final class ItemView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private var secret: SecretField?
    private var code: CodeField?
    private let buttons = Make.flow([])
    private var cancel: Widget?
    private let confirmation = Make.column(10, [], style: "desktop-confirm")
    private let question = Make.label("", role: GTK_ACCESSIBLE_ROLE_ALERT)
    /// Whether the user was told that the item cannot be restored.
    private var mayLose = false

    /// The outcome of a deletion.
    private enum Outcome: Sendable {
        /// Nothing was deleted: the item could not be restored, and the user has not been told.
        case refused
        case deleted(isKept: Bool)
    }

    /// `code` is the item with the one-time codes of this password.
    init(_ page: ItemPage, code codeRow: ItemRow?, context: PageContext, actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        widget = Make.column(16, [], style: "desktop-page")
        let icon = Make.icon(page.row.section.iconName, size: 40)
        let title = Make.label(page.row.title, style: "desktop-title")
        let names = expand(Make.column(2, [title, Make.label(page.kindTitle, style: "desktop-subtitle")]))
        gtk_box_append(sheet_box(widget), Make.row(16, [icon, names]))
        gtk_box_append(sheet_box(widget), card(codeRow))
        gtk_box_append(sheet_box(widget), Make.label(page.protection, style: "desktop-protection"))
        fillButtons()
        fillConfirmation()
        for part in [buttons, confirmation, context.notice.widget] { gtk_box_append(sheet_box(widget), part) }
    }

    private func card(_ codeRow: ItemRow?) -> Widget {
        let card = Make.column(0, [], style: "desktop-card")
        if page.isPassword, !page.isCode {
            let row = page.row
            let field = SecretField(page.secretTitle, context) { keychain, verb, waiting, call in
                try keychain.secret(of: row, for: verb, waiting: waiting, cancellation: call)
            }
            secret = field
            gtk_box_append(sheet_box(card), field.widget)
        }
        if let codeRow = page.isCode ? page.row : codeRow {
            let field = CodeField(codeRow, context)
            code = field
            gtk_box_append(sheet_box(card), field.widget)
        } else if page.row.section == .passwords {
            gtk_box_append(sheet_box(card), addCodeRow())
        }
        for field in page.fields { gtk_box_append(sheet_box(card), row(field)) }
        return card
    }

    private func addCodeRow() -> Widget {
        let (page, actions) = (page, actions)
        let names = expand(Make.column(2, [Make.label("One-time code", style: "desktop-field-title"), Make.label("None")]))
        return Make.row(8, [names, Make.button("Add Code") { actions.addCode(page) }], style: "desktop-field")
    }

    private func row(_ field: ItemPage.Field) -> Widget {
        let title = Make.label(field.title, style: "desktop-field-title")
        let text = Make.label(field.text)
        gtk_label_set_selectable(sheet_label(text), 1)
        sheet_describe(text, field.title)
        let row = Make.row(8, [expand(Make.column(2, [title, text]))], style: "desktop-field")
        guard field.isCopyable else { return row }
        let copy = Make.iconButton("edit-copy-symbolic", "Copy \(field.title)") { [weak self] in
            self?.context.clipboard.copy(text: field.text)
            self?.context.notice.show("Copied.")
        }
        gtk_box_append(sheet_box(row), copy)
        return row
    }

    private func fillButtons() {
        func add(_ title: String, style: String? = nil, _ clicked: @escaping @MainActor () -> Void) {
            gtk_box_append(sheet_box(buttons), Make.button(title, style: style, clicked))
        }
        let (page, actions) = (page, actions)
        if page.isPassword, !page.isCode {
            add("Edit") { actions.edit(page) }
            if page.row.section == .passwords { add("New Password") { actions.replaceSecret(page) } }
            add("History") { [context] in actions.showHistory(page, context) }
        }
        add("Access") { actions.showAccess(page, "") }
        gtk_box_append(sheet_box(buttons), expand(Make.row(0, [])))
        add("Delete", style: "destructive-action") { [weak self] in self?.prepareDeletion() }
    }

    private func fillConfirmation() {
        let cancel = Make.button("Cancel") { [weak self] in self?.confirm(false) }
        self.cancel = cancel
        let delete = Make.button("Delete Item", style: "destructive-action") { [weak self] in self?.delete() }
        let choices = Make.row(8, [expand(Make.row(0, [])), cancel, delete])
        for part in [question, choices] { gtk_box_append(sheet_box(confirmation), part) }
        setVisible(confirmation, false)
    }

    /// Asks the user whether to delete the item, once it is known whether it could be restored.
    private func prepareDeletion() {
        let page = page
        context.ask { keychain, _, _ in
            try keychain.keepsDeleted(page)
        } then: { [weak self] isKept in
            self?.askToDelete(isKept: isKept)
        }
    }

    private func askToDelete(isKept: Bool) {
        mayLose = !isKept
        let outlook = isKept ? "You can restore it for thirty days." : "It cannot be restored."
        setText(question, "Delete “\(page.row.title)”? \(outlook)")
        confirm(true)
    }

    private func confirm(_ isAsked: Bool) {
        setVisible(buttons, !isAsked)
        setVisible(confirmation, isAsked)
        // The focus is on the harmless button.
        if isAsked, let cancel { gtk_widget_grab_focus(cancel) }
    }

    /// The history may have been turned off while the user read the question.
    private func delete() {
        let (page, mayLose) = (page, mayLose)
        context.ask { keychain, _, call in
            let isKept = try keychain.keepsDeleted(page)
            guard isKept || mayLose else { return Outcome.refused }
            try keychain.delete(page.row, cancellation: call)
            return Outcome.deleted(isKept: isKept)
        } then: { [weak self] outcome in
            self?.show(outcome)
        }
    }

    private func show(_ outcome: Outcome) {
        switch outcome {
        case .refused:
            askToDelete(isKept: false)
            let words = "Your keychain no longer keeps deleted items, so nothing was deleted."
            context.notice.show("\(words) To delete it all the same, press Delete Item again.", isError: true)
        case .deleted(let isKept): actions.deleted(page, isKept)
        }
    }

    /// Hides and erases what was revealed, and withdraws a prompt.
    func end() {
        context.end()
        secret?.conceal()
        code?.conceal()
    }

    func focus() {
        if let secret { secret.focus() } else { code?.focus() }
    }
}
