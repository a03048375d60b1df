import CGtk
import DesktopKeychain
import Glibc

/// The page that finds passwords to change, when the user asks for it.
@MainActor final class CheckView: Page {
    let widget: Widget
    private let items: ItemList
    private let context: PageContext
    private let actions: PageActions
    private let results = Make.column(16, [])
    private var check: Widget?

    private static let explanation = """
        Finds passwords that several items have, that have fewer than \(PasswordCheck.charactersMin) characters, or that were not changed \
        for a year. It reads every password that needs no approval, on this machine alone, and keeps none. The access log has these \
        readings, and a canary among the passwords raises an alert.
        """
    /// The number of rows shown for each problem; further items are only counted.
    private static let rowsMax = 100

    init(_ items: ItemList, context: PageContext, actions: PageActions) {
        self.items = items
        self.context = context
        self.actions = actions
        let title = Make.label("Passwords to Change", style: "desktop-title")
        widget = Make.column(16, [title, Make.label(Self.explanation, style: "desktop-hint")], style: "desktop-page")
        let check = Make.button("Check Passwords", style: "suggested-action") { [weak self] in self?.begin() }
        gtk_widget_set_halign(check, GTK_ALIGN_START)
        self.check = check
        for part in [check, context.notice.widget, results] { gtk_box_append(sheet_box(widget), part) }
    }

    private func begin() {
        empty(results)
        let items = items
        // Microseconds since the reference date.
        let now = (Int64(Glibc.time(nil)) - 978_307_200) * 1_000_000
        let progress: @Sendable (Int) -> Void = { read in
            MainLoop.post { [weak self] in self?.context.notice.show("Checking… \(read) passwords so far") }
        }
        context.ask { keychain, _, call in
            try keychain.checkPasswords(of: items, now: now, cancellation: call, progress: progress)
        } then: { [weak self] in
            self?.show($0)
        }
        context.notice.show("Checking…")
    }

    private func show(_ check: PasswordCheck) {
        let checked = check.checked == 1 ? "1 password was checked." : "\(check.checked) passwords were checked."
        let leftOut =
            switch check.leftOut {
            case 0: ""
            case 1: " 1 was left out, since it needs your approval."
            case let number: " \(number) were left out, since they need your approval."
            }
        let isGood = check.reused.isEmpty && check.short.isEmpty && check.old.isEmpty
        context.notice.show(checked + leftOut + (isGood ? " Nothing needs a change." : ""))
        let passwords = check.reusedPasswords == 1 ? "1 password" : "\(check.reusedPasswords) passwords"
        add("Reused: \(passwords) used by \(check.reused.count) items", check.reused)
        add("Short: \(Self.items(check.short)) with fewer than \(PasswordCheck.charactersMin) characters", check.short)
        add("Old: \(Self.items(check.old)) not changed for a year", check.old)
    }

    private static func items(_ rows: [ItemRow]) -> String { rows.count == 1 ? "1 item" : "\(rows.count) items" }

    private func add(_ title: String, _ rows: [ItemRow]) {
        guard !rows.isEmpty else { return }
        let card = Make.column(0, rows.prefix(Self.rowsMax).map(row), style: "desktop-card")
        let rest = rows.count - Self.rowsMax
        let more = rest > 0 ? [Make.label("And \(rest) more: change some of these, and check again.", style: "desktop-hint")] : []
        gtk_box_append(sheet_box(results), Make.part(title, Make.column(8, [card] + more)))
    }

    private func row(_ row: ItemRow) -> Widget {
        let show = Make.button("Show") { [weak self] in self?.actions.back(row) }
        sheet_name(show, "Show \(row.title)\(row.subtitle.isEmpty ? "" : ", \(row.subtitle)")")
        return Make.row(8, [expand(Make.names(row.title, row.subtitle)), show], style: "desktop-field")
    }

    /// Cancels a running check, and forgets the results.
    func end() {
        context.end()
        empty(results)
    }

    func focus() { if let check { gtk_widget_grab_focus(check) } }
}
