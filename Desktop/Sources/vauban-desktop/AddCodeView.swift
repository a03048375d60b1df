import CGtk
import DesktopKeychain
import VaubanSecretBytes

/// The page that adds the key of one-time codes to a password: typed, or from the QR code on the screen.
@MainActor final class AddCodeView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private let entry: Widget = gtk_password_entry_new()
    /// The typed text; the entry itself shows asterisks.
    private let typed: UnsafeMutablePointer<GtkEntryBuffer>

    init(_ page: ItemPage, _ context: PageContext, _ actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        form = Form("One-Time Code for “\(page.row.title)”", save: "Add", notice: context.notice) { actions.back(page.row) }
        typed = sheet_take_signs(entry)
        sheet_name(entry, "Key or otpauth:// address")
        form.add("Key or otpauth:// address, as the site shows it", entry)
        widget = form.widget
        form.add("QR code", Make.button("Scan the Screen") { [weak self] in self?.scan() })
        form.saved = { [weak self] in self?.save() }
        on(entry, "activate") { [weak self] in self?.save() }
    }

    private func save() {
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else {
            return context.notice.show("Type the key, or scan the QR code on the screen.", isError: true)
        }
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(gtk_entry_buffer_get_bytes(typed)))
        add(.typed(ItemSecret(SecretBytes(copying: bytes))))
    }

    private func scan() {
        add(.onScreen)
        context.notice.show("Looking for a QR code on the screen…")
    }

    private func add(_ key: ItemKeychain.CodeKey) {
        let page = page
        context.ask { keychain, _, _ in
            try keychain.addCode(key, to: page)
        } then: { [weak self] added in
            guard let self else { return }
            erase()
            let note = added.note.map { " Note: \($0)" } ?? ""
            actions.addedCode(added.row, page, "The one-time code was added.\(note)")
        }
    }

    /// Overwrites what was typed.
    private func erase() {
        guard let text = gtk_entry_buffer_get_text(typed), text.pointee != 0 else { return }
        sheet_overwrite(text)
        gtk_editable_set_text(sheet_editable(entry), "")
        Residue.erase()
    }

    func end() {
        context.end()
        erase()
    }

    func focus() { form.focus() }
}
