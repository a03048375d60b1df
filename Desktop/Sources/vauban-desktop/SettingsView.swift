import CGtk
import DesktopKeychain

/// The page of the settings. What takes the passcode is changed in a terminal, where the passcode is typed; the page names the command.
@MainActor final class SettingsView: Page {
    let widget: Widget
    private let context: PageContext
    private var switches: [Widget] = []
    private var isReverting = false

    init(_ settings: KeychainSettings, _ context: PageContext) {
        self.context = context
        widget = Make.column(16, [Make.label("Settings", style: "desktop-title")], style: "desktop-page")
        let hint = "Changes of these take your passcode. To make them, run the command in a terminal."
        let summaries = settings.parts.map { row($0.title, $0.text, $0.commands) }
        let locks = Make.column(8, [Make.column(0, summaries, style: "desktop-card"), Make.label(hint, style: "desktop-hint")])
        let programs = settings.accesses.map { access in
            choice(access.title, access.isEnabled) { isOn in
                return { keychain in try keychain.set(access, to: isOn) }
            }
        }
        let kept = "Keep the last ten values of each item, and deleted items for thirty days"
        let history = choice(kept, settings.keepsHistory) { isOn in
            return { keychain in try keychain.setKeepsHistory(isOn) }
        }
        // The message is between what it is about.
        let parts = [
            Make.part("Who may use this keychain", Make.column(0, programs, style: "desktop-card")),
            Make.part("History", Make.column(0, [history], style: "desktop-card")), context.notice.widget,
            Make.part("Lock and approval", locks),
        ]
        for part in parts { gtk_box_append(sheet_box(widget), part) }
    }

    private func row(_ title: String, _ text: String, _ commands: [String]) -> Widget {
        let lines = commands.map { command in
            let copy = Make.iconButton("edit-copy-symbolic", "Copy \(command)") { [weak self] in
                self?.context.clipboard.copy(text: command)
                self?.context.notice.show("Copied: \(command)")
            }
            gtk_widget_add_css_class(copy, "flat")
            return Make.row(4, [expand(Make.label(command, style: "desktop-command")), copy])
        }
        let texts = [Make.label(title, style: "desktop-field-title"), Make.label(text)]
        return Make.row(8, [expand(Make.column(2, texts + lines))], style: "desktop-field")
    }

    /// A choice that takes effect at once. `work` returns what to do, which returns what to say.
    private func choice(
        _ title: String, _ isOn: Bool, _ work: @escaping @MainActor (Bool) -> @Sendable (ItemKeychain) throws -> String
    ) -> Widget {
        let check: Widget = gtk_check_button_new()
        // The choice has its name.
        let label = expand(Make.label(title, role: GTK_ACCESSIBLE_ROLE_PRESENTATION))
        desktop_check_set_child(check, label)
        sheet_name(check, title)
        gtk_check_button_set_active(sheet_check(check), isOn ? 1 : 0)
        switches.append(check)
        on(check, "toggled") { [weak self] in
            guard let self, !isReverting else { return }
            let isOn = gtk_check_button_get_active(sheet_check(check)) != 0
            change(check, isOn, work(isOn))
        }
        return Make.row(8, [expand(check)], style: "desktop-field")
    }

    private func change(_ check: Widget, _ isOn: Bool, _ work: @escaping @Sendable (ItemKeychain) throws -> String) {
        for check in switches { setEnabled(check, false) }
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
        for check in switches { setEnabled(check, true) }
        isReverting = true
        gtk_check_button_set_active(sheet_check(check), isOn ? 1 : 0)
        isReverting = false
        gtk_widget_grab_focus(check)
    }

    func end() { context.end() }
    func focus() { if let first = switches.first { gtk_widget_grab_focus(first) } }
}
