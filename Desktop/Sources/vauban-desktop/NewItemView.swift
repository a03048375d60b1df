import CGtk
import DesktopKeychain

/// The page that adds a password.
@MainActor final class NewItemView: Page {
    let widget: Widget
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private let place: Widget
    private let user: Widget
    private let choice: NewSecretChoice
    private var isSaved = false

    init(context: PageContext, actions: PageActions, cancelled: @escaping @MainActor () -> Void) {
        self.context = context
        self.actions = actions
        form = Form("New Password", save: "Add", notice: context.notice, cancelled: cancelled)
        place = form.addEntry("Website or service", "", hint: "example.com")
        user = form.addEntry("User name", "")
        choice = NewSecretChoice(plan: "20 characters, or what the rules of the website demand")
        form.add("Password", choice.widget)
        widget = form.widget
        form.saved = { [weak self] in self?.save() }
    }

    private func save() {
        let item = NewItem(place: Form.text(of: place), user: Form.text(of: user))
        guard let secret = choice.take() else { return context.notice.show("Type a password, or let one be generated.", isError: true) }
        context.ask { keychain, _, call in
            try keychain.add(item, secret, cancellation: call)
        } then: { [weak self] added in
            guard let self else { return }
            isSaved = true
            choice.erase()
            actions.changed(added.row, added.summary.map { "Added with a generated password: \($0)." } ?? "Added.")
        }
    }

    var hasUnsavedInput: Bool {
        !isSaved && (!Form.text(of: place).isEmpty || !Form.text(of: user).isEmpty || choice.hasTypedSecret)
    }

    func end() {
        context.end()
        choice.erase()
    }

    func focus() { form.focus() }
}

/// The page that replaces the secret of a password.
@MainActor final class ReplaceSecretView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private let choice: NewSecretChoice
    /// Whether the user was told that the previous password is not kept.
    private var mayLose = false

    /// The outcome of a replacement.
    private enum Outcome: Sendable {
        /// Nothing was replaced: the previous password would be lost, and the user has not been told.
        case refused
        case replaced(summary: String?, isKept: Bool)
    }

    init(_ page: ItemPage, context: PageContext, actions: PageActions) {
        self.page = page
        self.context = context
        self.actions = actions
        form = Form("New Password for “\(page.row.title)”", save: "Replace", notice: context.notice) { actions.back(page.row) }
        choice = NewSecretChoice(plan: NewSecret.summary(for: page.server))
        form.add("Password", choice.widget)
        widget = form.widget
        form.saved = { [weak self] in self?.save() }
    }

    private func save() {
        guard let secret = choice.take() else { return context.notice.show("Type a password, or let one be generated.", isError: true) }
        let (page, mayLose) = (page, mayLose)
        context.ask { keychain, waiting, call in
            let isKept = try keychain.keepsHistory()
            guard isKept || mayLose else { return Outcome.refused }
            let summary = try keychain.replaceSecret(of: page, with: secret, waiting: waiting, cancellation: call)
            return Outcome.replaced(summary: summary, isKept: isKept)
        } then: { [weak self] outcome in
            self?.show(outcome)
        }
    }

    private func show(_ outcome: Outcome) {
        switch outcome {
        case .refused:
            mayLose = true
            let words = "Your keychain keeps no earlier passwords, so the present one will be lost."
            context.notice.show("\(words) To replace it all the same, press Replace again.", isError: true)
        case .replaced(let summary, let isKept):
            choice.erase()
            let words = summary.map { "The password was replaced: \($0)." } ?? "The password was replaced."
            actions.changed(page.row, "\(words) The previous one is \(isKept ? "in the history" : "not kept").")
        }
    }

    var hasUnsavedInput: Bool { choice.hasTypedSecret }

    func end() {
        context.end()
        choice.erase()
    }

    func focus() { choice.focus() }
}
