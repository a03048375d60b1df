import CGtk
import DesktopKeychain

/// The page that edits the names of a password, never its secret.
@MainActor final class EditView: Page {
    let widget: Widget
    private let page: ItemPage
    private let context: PageContext
    private let actions: PageActions
    private let form: Form
    private var draft: ItemDraft
    private let title: Widget
    private let user: Widget
    private let website: Widget?
    private let tags: Widget
    private let notes: Widget

    init(_ page: ItemPage, draft: ItemDraft, context: PageContext, actions: PageActions) {
        self.page = page
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
        let (page, draft) = (page, draft)
        context.ask { keychain, waiting, call in
            try keychain.edit(page, to: draft, waiting: waiting, cancellation: call)
        } then: { [weak self] in
            self?.actions.changed(page.row, "Saved.")
        }
    }

    func end() { context.end() }
    func focus() { form.focus() }
}
