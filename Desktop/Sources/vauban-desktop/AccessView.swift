import CGtk
import DesktopKeychain

/// The page that shows who may read an item, and who used it last.
@MainActor final class AccessView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let back: Widget

    init(_ page: ItemPage, access: ItemAccess, context: PageContext, actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        widget = Make.column(16, [Make.label("Access to “\(page.row.title)”", style: "desktop-title")], style: "desktop-page")
        back = Make.button("Back") { actions.back(page.row) }
        let buttons = Make.row(8, [expand(Make.row(0, [])), back])
        let parts = [Make.part("Who may read it", readers(access)), Make.part("Last uses", uses(access)), context.notice.widget, buttons]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
    }

    private func readers(_ access: ItemAccess) -> Widget {
        guard let readers = access.readers else {
            return Make.label("Every program of yours: in user mode Vauban does not tell them apart.", style: "desktop-hint")
        }
        let rule =
            page.row.needsApproval
            ? "You, with vauban or in this window, each time with your approval" : "You, with vauban or in this window"
        guard !readers.isEmpty else { return Make.label("\(rule). No other program.", style: "desktop-hint") }
        let others = Make.label("\(rule), and these programs:", style: "desktop-hint")
        return Make.column(8, [others, Make.column(0, readers.map(row), style: "desktop-card")])
    }

    private func row(_ reader: ItemAccess.Reader) -> Widget {
        let revoke = Make.button("Revoke") { [weak self] in self?.revoke(reader) }
        sheet_name(revoke, "Revoke \(reader.title)")
        return Make.row(8, [expand(Make.label(reader.title)), revoke], style: "desktop-field")
    }

    private func revoke(_ reader: ItemAccess.Reader) {
        let page = page
        context.ask { keychain, _, _ in
            try keychain.revoke(reader, of: page.row)
        } then: { [weak self] in
            self?.actions.showAccess(page, "\(reader.title) may not read it any more.")
        }
    }

    private func uses(_ access: ItemAccess) -> Widget {
        guard let uses = access.uses else { return Make.label("The access log cannot be read.", style: "desktop-hint") }
        guard !uses.isEmpty else {
            return Make.label(
                access.hasMoreUses ? "None in the latest part of the log." : "None.", style: "desktop-hint")
        }
        let rows = uses.map { Make.field($0.title, $0.text) }
        let more = Make.label("To see earlier ones, run in a terminal: vauban log", style: "desktop-hint")
        return Make.column(8, [Make.column(0, rows, style: "desktop-card")] + (access.hasMoreUses ? [more] : []))
    }

    func end() { context.end() }
    func focus() { gtk_widget_grab_focus(back) }
}
