import CGtk
import DesktopKeychain

/// The page that adds a one-time code to a password, from a typed key or from a QR code on the screen.
@MainActor final class AddCodeView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private let entry = SecretEntry("Key or otpauth:// address")

    init(_ page: ItemPage, context: PageContext, actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        form = Form("One-Time Code for “\(page.row.title)”", save: "Add", notice: context.notice) { actions.back(page.row) }
        form.add("Key or otpauth:// address, as the site shows it", entry.widget)
        widget = form.widget
        form.add("QR code", Make.button("Scan the Screen") { [weak self] in self?.scan() })
        form.saved = { [weak self] in self?.save() }
        on(entry.widget, signal: "activate") { [weak self] in self?.save() }
    }

    private func save() {
        guard let key = entry.secret() else {
            return context.notice.show("Type the key, or scan the QR code on the screen.", isError: true)
        }
        add(.typed(key))
    }

    private func scan() {
        add(.onScreen)
        context.notice.show("Looking for a QR code on the screen…")
    }

    private func add(_ key: ItemKeychain.CodeKey) {
        let page = page
        context.ask { keychain, _, call in
            try keychain.addCode(key, to: page, cancellation: call)
        } then: { [weak self] added in
            guard let self else { return }
            entry.erase()
            let note = added.note.map { " Note: \($0)" } ?? ""
            actions.addedCode(added.row, page, "The one-time code was added.\(note)")
        }
    }

    var hasUnsavedInput: Bool { entry.hasText }

    func end() {
        context.end()
        entry.erase()
    }

    func focus() { form.focus() }
}
