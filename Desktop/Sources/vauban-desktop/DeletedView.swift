import CGtk
import DesktopKeychain

/// The page after a deletion, which offers to undo it if the item is kept.
@MainActor final class DeletedView: Page {
    let widget: Widget
    private let context: PageContext
    private let actions: PageActions
    private var undo: Widget?

    init(_ page: ItemPage, isKept: Bool, context: PageContext, actions: PageActions) {
        self.context = context
        self.actions = actions
        let row = page.row
        widget = Make.column(16, [Make.label("“\(row.title)” is deleted", style: "desktop-title")], style: "desktop-page")
        let hint = isKept ? "You can restore it here, or for thirty days with vauban undelete." : "It cannot be restored."
        gtk_box_append(sheet_box(widget), Make.label(hint, style: "desktop-hint"))
        if isKept {
            let undo = Make.button("Undo") { [weak self] in self?.undelete(row) }
            gtk_widget_set_halign(undo, GTK_ALIGN_START)
            gtk_box_append(sheet_box(widget), undo)
            self.undo = undo
        }
        gtk_box_append(sheet_box(widget), context.notice.widget)
    }

    private func undelete(_ row: ItemRow) {
        context.ask { keychain, waiting, call in
            try keychain.undelete(row, waiting: waiting, cancellation: call)
        } then: { [weak self] in
            self?.actions.changed(row, "Restored.")
        }
    }

    func end() { context.end() }
    func focus() { if let undo { gtk_widget_grab_focus(undo) } }
}
