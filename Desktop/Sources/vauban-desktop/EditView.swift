import CGtk
import DesktopKeychain

/// The page that edits everything about a password except the secret.
@MainActor final class EditView: Page {
    let widget: Widget
    private let page: ItemPage
    private let code: ItemRow?
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private let draft: ItemDraft
    /// What the entries contain before the user edits them. GTK may show a text in another form.
    private var untouched: ItemDraft
    private var isSaved = false
    private let title: Widget
    private let user: Widget
    private let website: Widget?
    private let tags: Widget
    private let notes: Widget

    /// `code` is the item with the one-time codes of this password. It is renamed together with it.
    init(_ page: ItemPage, code: ItemRow?, draft: ItemDraft, context: PageContext, actions: PageActions) {
        self.page = page
        self.code = code
        self.context = context
        self.actions = actions
        self.draft = draft
        untouched = draft
        let form = Form("Edit", save: "Save", notice: context.notice) { actions.back(page.row) }
        self.form = form
        title = form.addEntry("Title", draft.title)
        user = form.addEntry("User name", draft.user)
        website = draft.website.map { form.addEntry("Website", $0) }
        tags = form.addEntry("Tags", draft.tags, hint: "work, bank")
        notes = form.addNotes("Notes", draft.notes)
        widget = form.widget
        untouched = typed
        form.saved = { [weak self] in self?.save() }
    }

    /// What the entries contain.
    private var typed: ItemDraft {
        var typed = draft
        typed.title = Form.text(of: title)
        typed.user = Form.text(of: user)
        typed.website = website.map { Form.text(of: $0) }
        typed.tags = Form.text(of: tags)
        typed.notes = Form.lines(of: notes)
        return typed
    }

    var hasUnsavedInput: Bool { !isSaved && typed != untouched }

    private func save() {
        let (page, code, draft) = (page, code, typed)
        context.ask { keychain, waiting, call in
            try keychain.edit(page, to: draft, code: code, waiting: waiting, cancellation: call)
        } then: { [weak self] words in
            guard let self else { return }
            isSaved = true
            actions.edited(page, code, words)
        }
    }

    func end() { context.end() }
    func focus() { form.focus() }
}
