import CGtk
import DesktopKeychain

/// The settings page. If a change takes the passcode, the service prompts for it, and this program never receives what is typed or shown
/// there. For settings that can only be changed in a terminal, the page shows the command.
@MainActor final class SettingsView: Page {
    let widget: Widget
    private let context: PageContext
    private var switches: [Widget] = []
    private var isReverting = false
    private var locks: LockChoiceView?
    private var changes: [Widget] = []
    private let cancel: Widget = gtk_button_new_with_label("Cancel")
    /// Shows the page again with the current settings and a message; the flag says whether it is an error.
    private let reload: @MainActor (String, Bool) -> Void

    init(_ settings: KeychainSettings, _ context: PageContext, reload: @escaping @MainActor (String, Bool) -> Void) {
        self.context = context
        self.reload = reload
        widget = Make.column(16, [Make.label("Settings", style: "desktop-title")], style: "desktop-page")
        let hint = """
            Changes of these take your passcode, for which a prompt appears. Where a command is shown, run it in a terminal.
            """
        let summaries = settings.parts.map { row($0) }
        let approval = Make.column(8, [Make.column(0, summaries, style: "desktop-card"), Make.label(hint, style: "desktop-hint")])
        let programs = settings.accesses.map { access in
            choice(access.title, access.isEnabled) { isOn in
                return { keychain in try keychain.set(access, to: isOn) }
            }
        }
        let kept = "Keep the last ten secrets of each item, and deleted items for thirty days"
        let history = choice(kept, settings.keepsHistory) { isOn in
            return { keychain in try keychain.setKeepsHistory(isOn) }
        }
        gtk_widget_set_valign(cancel, GTK_ALIGN_CENTER)
        setVisible(cancel, false)
        on(cancel, signal: "clicked") { [weak self] in self?.context.withdraw() }
        // The message stands between the groups that it can be about, so that it is visible next to either.
        let parts = [
            Make.part("Who may use this keychain", Make.column(0, programs, style: "desktop-card")),
            Make.part("History", Make.column(0, [history], style: "desktop-card")),
            Make.row(8, [expand(context.notice.widget), cancel]),
            Make.part("Lock and approval", approval),
        ]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
    }

    private func row(_ part: KeychainSettings.Part) -> Widget {
        var lines = part.commands.map { command in
            let copy = Make.iconButton("edit-copy-symbolic", "Copy \(command)") { [weak self] in
                self?.context.clipboard.copy(text: command)
                self?.context.notice.show("Copied: \(command)")
            }
            gtk_widget_add_css_class(copy, "flat")
            return Make.row(4, [expand(Make.label(command, style: "desktop-command")), copy])
        }
        if let choice = part.locks {
            let view = LockChoiceView(choice) { [weak self] change in self?.make(change) }
            locks = view
            lines.append(view.widget)
        }
        if !part.changes.isEmpty {
            let buttons = part.changes.map { change in
                let button: Widget = gtk_button_new_with_label(change.title)
                gtk_widget_set_halign(button, GTK_ALIGN_START)
                on(button, signal: "clicked") { [weak self] in self?.make(change) }
                return button
            }
            changes += buttons
            if let warning = KeychainChange.warning(about: part.changes) { lines.append(Make.label(warning, style: "desktop-hint")) }
            lines.append(Make.column(8, buttons))
        }
        let texts = [Make.label(part.title, style: "desktop-field-title"), Make.label(part.text)]
        return Make.row(8, [expand(Make.column(2, texts + lines))], style: "desktop-field")
    }

    /// Has the service prompt for a change. Until the user answers, the page only offers to cancel. It is then shown again with the current
    /// settings, whatever the outcome: they may have changed elsewhere, or in part.
    private func make(_ change: KeychainChange) {
        setUsable(false)
        setVisible(cancel, true)
        gtk_widget_grab_focus(cancel)
        context.ask { keychain, waiting, call in
            try keychain.make(change, waiting: waiting, cancellation: call)
        } then: { [weak self] words in
            self?.reload(words, false)
        } explaining: { [weak self] words in
            self?.reload(words.isEmpty ? change.ifUnknown : words, true)
        }
    }

    /// Enables or disables all controls: the page has one request at a time.
    private func setUsable(_ isUsable: Bool) {
        for widget in switches + changes { setEnabled(widget, isUsable) }
        locks?.setEnabled(isUsable)
    }

    /// Returns a check box that takes effect at once. `work` returns the change for a state, and the change returns a message.
    private func choice(
        _ title: String, _ isOn: Bool, change work: @escaping @MainActor (Bool) -> @Sendable (ItemKeychain) throws -> String
    ) -> Widget {
        let check = Make.check(title)
        gtk_check_button_set_active(sheet_check(check), isOn ? 1 : 0)
        switches.append(check)
        on(check, signal: "toggled") { [weak self] in
            guard let self, !isReverting else { return }
            let isOn = gtk_check_button_get_active(sheet_check(check)) != 0
            change(check, isOn: isOn, by: work(isOn))
        }
        return Make.row(8, [expand(check)], style: "desktop-field")
    }

    private func change(_ check: Widget, isOn: Bool, by work: @escaping @Sendable (ItemKeychain) throws -> String) {
        setUsable(false)
        context.ask { keychain, _, _ in
            try work(keychain)
        } then: { [weak self] words in
            self?.changed(check, isOn)
            self?.context.notice.show(words)
        } otherwise: { [weak self] in
            self?.changed(check, !isOn)
        }
    }

    private func changed(_ check: Widget, _ isOn: Bool) {
        setUsable(true)
        isReverting = true
        gtk_check_button_set_active(sheet_check(check), isOn ? 1 : 0)
        isReverting = false
        gtk_widget_grab_focus(check)
    }

    func end() { context.end() }
    func focus() { if let first = switches.first { gtk_widget_grab_focus(first) } }
}
