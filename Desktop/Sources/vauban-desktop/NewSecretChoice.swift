import CGtk
import DesktopKeychain

/// The choice between a generated password, which is never shown, and one that the user types.
@MainActor final class NewSecretChoice {
    let widget: Widget
    private let generate: Widget
    private let type: Widget
    private let entry = SecretEntry("New password")

    /// `plan` says what would be generated.
    init(plan: String) {
        generate = Make.check(plan.isEmpty ? "Generate it" : "Generate it: \(plan)")
        type = Make.check("Type it")
        gtk_check_button_set_group(sheet_check(type), sheet_check(generate))
        gtk_check_button_set_active(sheet_check(generate), 1)
        widget = Make.column(8, [generate, type, entry.widget])
        setVisible(entry.widget, false)
        on(type, signal: "toggled") { [weak self] in self?.chosen() }
    }

    func focus() { gtk_widget_grab_focus(generate) }

    private var isTyped: Bool { gtk_check_button_get_active(sheet_check(type)) != 0 }

    private func chosen() {
        setVisible(entry.widget, isTyped)
        if isTyped { gtk_widget_grab_focus(entry.widget) } else { erase() }
    }

    /// Whether the user typed a secret.
    var hasTypedSecret: Bool { entry.hasText }

    /// Returns the chosen secret; nil if the user wants to type one and has not.
    func take() -> NewSecret? {
        guard isTyped else { return .generated }
        return entry.secret().map { .typed($0) }
    }

    /// Overwrites what was typed.
    func erase() { entry.erase() }
}
