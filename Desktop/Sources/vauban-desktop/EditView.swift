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
    private var draft: ItemDraft
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
        let form = Form("Edit", save: "Save", notice: context.notice) { actions.back(page.row) }
        self.form = form
        title = form.addEntry("Title", draft.title)
        user = form.addEntry("User name", draft.user)
        website = draft.website.map { form.addEntry("Website", $0) }
        tags = form.addEntry("Tags", draft.tags, hint: "work, bank")
        notes = form.addNotes("Notes", draft.notes)
        widget = form.widget
        form.saved = { [weak self] in self?.save() }
    }

    private func save() {
        draft.title = Form.text(of: title)
        draft.user = Form.text(of: user)
        draft.website = website.map { Form.text(of: $0) }
        draft.tags = Form.text(of: tags)
        draft.notes = Form.lines(of: notes)
        let (page, code, draft) = (page, code, draft)
        context.ask { keychain, waiting, call in
            try keychain.edit(page, to: draft, code: code, waiting: waiting, cancellation: call)
        } then: { [weak self] words in
            self?.actions.edited(page, code, words)
        }
    }

    func end() { context.end() }
    func focus() { form.focus() }
}
