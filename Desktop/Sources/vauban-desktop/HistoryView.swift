import CGtk
import DesktopKeychain

/// The page that lists the earlier values of a password.
@MainActor final class HistoryView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let back: Widget
    private var fields: [SecretField] = []

    init(_ page: ItemPage, values: [EarlierValue], context: PageContext, actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        widget = Make.column(16, [Make.label("Earlier Passwords of “\(page.row.title)”", style: "desktop-title")], style: "desktop-page")
        back = Make.button("Back") { actions.back(page.row) }
        let buttons = Make.row(8, [expand(Make.row(0, [])), back])
        for part in [content(values), context.notice.widget, buttons] { gtk_box_append(sheet_box(widget), part) }
    }

    private func content(_ values: [EarlierValue]) -> Widget {
        if values.isEmpty { return Make.label("There are no earlier passwords.", style: "desktop-hint") }
        return Make.column(0, values.map(row), style: "desktop-card")
    }

    private func row(_ value: EarlierValue) -> Widget {
        let row = page.row
        let field = SecretField("Until \(value.replaced)", context) { keychain, verb, waiting, call in
            try keychain.earlierSecret(value, of: row, for: verb, waiting: waiting, cancellation: call)
        }
        fields.append(field)
        let button = Make.button("Restore") { [weak self] in self?.putBack(value) }
        gtk_box_append(sheet_box(field.widget), button)
        return field.widget
    }

    private func putBack(_ value: EarlierValue) {
        let row = page.row
        context.ask { keychain, waiting, call in
            try keychain.putBack(value, of: row, waiting: waiting, cancellation: call)
        } then: { [weak self] in
            self?.actions.changed(row, "The earlier password is restored. The one before is in the history.")
        }
    }

    func end() {
        context.end()
        for field in fields { field.conceal() }
    }

    func focus() { gtk_widget_grab_focus(back) }
}
