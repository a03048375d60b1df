import CGtk
import DesktopKeychain
import Glibc

/// A row with a time-based one-time code, and how long it is still valid.
@MainActor final class CodeField {
    let widget: Widget
    private let row: ItemRow
    private let context: PageContext
    private let text = SecretText(name: "One-time code", style: "desktop-code")
    private let time = Make.label("", style: "desktop-field-title")
    private let progress: Widget = gtk_progress_bar_new()
    private var reveal: Widget?
    private var codes: ItemCodes?
    private let tick = Alarm()
    private let alarm = Alarm()

    init(_ row: ItemRow, _ context: PageContext) {
        self.row = row
        self.context = context
        sheet_name(progress, "Time left")
        let column = expand(Make.column(3, [Make.label("One-time code", style: "desktop-field-title"), text.widget, time, progress]))
        widget = Make.row(8, [column], style: "desktop-field")
        let reveal = Make.button("Show Code") { [weak self] in self?.toggle() }
        let copy = Make.iconButton("edit-copy-symbolic", "Copy One-time code") { [weak self] in self?.copy() }
        for button in [reveal, copy] { gtk_box_append(sheet_box(widget), button) }
        self.reveal = reveal
        for part in [time, progress] { setVisible(part, false) }
    }

    func focus() { if let reveal { gtk_widget_grab_focus(reveal) } }

    private func toggle() {
        if codes != nil { return conceal() }
        ask("show") { [weak self] in self?.begin($0) }
    }

    private func ask(_ verb: String, then: @escaping @MainActor (ItemCodes) -> Void) {
        let row = row
        context.ask { keychain, waiting, call in
            try ItemCodes(keychain.secret(of: row, for: "\(verb) the one-time code of", waiting: waiting, cancellation: call))
        } then: {
            then($0)
        }
    }

    private func begin(_ codes: ItemCodes) {
        self.codes = codes
        if let reveal { gtk_button_set_label(sheet_button(reveal), "Hide") }
        for part in [time, progress] { setVisible(part, true) }
        refresh()
        tick.set(milliseconds: 1000, repeats: true) { [weak self] in self?.refresh() }
        alarm.set(milliseconds: context.hideSeconds * 1000) { [weak self] in self?.conceal() }
    }

    private func refresh() {
        guard let codes else { return }
        let now = Int64(Glibc.time(nil))
        if let code = codes.code(at: now) { _ = text.reveal(code) }
        let left = codes.secondsLeft(at: now)
        setText(time, "Valid for \(left) second\(left == 1 ? "" : "s")")
        gtk_progress_bar_set_fraction(desktop_progress(progress), Double(left) / Double(max(codes.period, 1)))
    }

    /// Hides the code and erases its key.
    func conceal() {
        tick.stop()
        alarm.stop()
        guard codes != nil else { return }
        codes = nil
        text.conceal()
        for part in [time, progress] { setVisible(part, false) }
        if let reveal { gtk_button_set_label(sheet_button(reveal), "Show Code") }
        Residue.erase()
    }

    private func copy() {
        ask("copy") { [weak self] codes in
            guard let self, let code = codes.code(at: Int64(Glibc.time(nil))) else { return }
            context.notice.show(context.clipboard.copy(code))
        }
    }
}
