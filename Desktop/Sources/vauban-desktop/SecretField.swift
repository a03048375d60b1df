import CGtk
import DesktopKeychain
import VaubanLinuxHost

/// A row with a secret, which is hidden until the user reveals it.
@MainActor final class SecretField {
    let widget: Widget
    private let title: String
    private let context: PageContext
    private let text: SecretText
    private let read: @Sendable (ItemKeychain, String, @escaping ItemKeychain.Waiting, CallCancellation) throws -> ItemSecret
    private var reveal: Widget?
    private var isShown = false
    private let alarm = Alarm()

    /// `read` gets the secret from the keychain; the text is the verb that a prompt shows.
    init(
        _ title: String, _ context: PageContext,
        read: @escaping @Sendable (ItemKeychain, String, @escaping ItemKeychain.Waiting, CallCancellation) throws -> ItemSecret
    ) {
        self.title = title
        self.context = context
        self.read = read
        text = SecretText(name: title)
        let column = expand(Make.column(2, [Make.label(title, style: "desktop-field-title"), text.widget]))
        widget = Make.row(8, [column], style: "desktop-field")
        let reveal = Make.button("Reveal") { [weak self] in self?.toggle() }
        let copy = Make.iconButton("edit-copy-symbolic", "Copy \(title)") { [weak self] in self?.copy() }
        for button in [reveal, copy] { gtk_box_append(sheet_box(widget), button) }
        self.reveal = reveal
    }

    func focus() { if let reveal { gtk_widget_grab_focus(reveal) } }

    private func toggle() {
        if isShown { return conceal() }
        let read = read
        context.ask { keychain, waiting, call in
            try read(keychain, "show", waiting, call)
        } then: { [weak self] secret in
            self?.show(secret)
        }
    }

    private func show(_ secret: ItemSecret) {
        guard text.reveal(secret) else {
            return context.notice.show("The secret is not text. To write it to a file, run: vauban get", isError: true)
        }
        isShown = true
        if let reveal { gtk_button_set_label(sheet_button(reveal), "Hide") }
        alarm.set(milliseconds: context.hideSeconds * 1000) { [weak self] in self?.conceal() }
    }

    /// Hides the secret and erases this process's copies of it.
    func conceal() {
        alarm.stop()
        guard isShown else { return }
        isShown = false
        text.conceal()
        if let reveal { gtk_button_set_label(sheet_button(reveal), "Reveal") }
        Residue.erase()
    }

    private func copy() {
        let read = read
        context.ask { keychain, waiting, call in
            try read(keychain, "copy", waiting, call)
        } then: { [weak self] secret in
            guard let self else { return }
            context.notice.show(context.clipboard.copy(secret))
        }
    }
}
