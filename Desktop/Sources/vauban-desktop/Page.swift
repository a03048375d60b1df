import CGtk
import DesktopKeychain

/// What the right side of the window can show.
@MainActor protocol Page: AnyObject {
    var widget: Widget { get }
    /// Erases every secret, and cancels a prompt. The window then removes the page.
    func end()
    /// Moves the focus to the first field or button of the page.
    func focus()
    /// Whether the user typed something that is not saved.
    var hasUnsavedInput: Bool { get }
}

extension Page {
    var hasUnsavedInput: Bool { false }
}

/// What a page can ask the window to do.
@MainActor struct PageActions {
    let edit: @MainActor (ItemPage) -> Void
    let replaceSecret: @MainActor (ItemPage) -> Void
    let addCode: @MainActor (ItemPage) -> Void
    /// Shows a password again, with a message, after its one-time code was added.
    let addedCode: @MainActor (ItemRow, ItemPage, String) -> Void
    /// Shows the history of an item, read for the page that is shown.
    let showHistory: @MainActor (ItemPage, PageContext) -> Void
    /// Shows who may read an item, with a message.
    let showAccess: @MainActor (ItemPage, String) -> Void
    /// Shows a password again, with a message, after it and its one-time code were renamed.
    let edited: @MainActor (ItemPage, ItemRow?, String) -> Void
    /// Shows that the item was deleted, and whether it can be restored.
    let deleted: @MainActor (ItemPage, Bool) -> Void
    /// Shows an item that was added or changed, with a message.
    let changed: @MainActor (ItemRow, String) -> Void
    /// Goes back to the page of an item.
    let back: @MainActor (ItemRow) -> Void
}
