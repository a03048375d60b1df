import CGtk
import DesktopKeychain

/// What the right side of the window shows.
@MainActor protocol Page: AnyObject {
    var widget: Widget { get }
    /// Forgets every secret, and withdraws a prompt. The window then removes the page.
    func end()
    /// Gives the keyboard to the first part of the page.
    func focus()
}

/// What the pages of items ask the window to do.
@MainActor struct PageActions {
    let edit: @MainActor (ItemPage) -> Void
    let replaceSecret: @MainActor (ItemPage) -> Void
    let addCode: @MainActor (ItemPage) -> Void
    /// The item with the one-time codes of a password was added; shows the password again, with a message.
    let addedCode: @MainActor (ItemRow, ItemPage, String) -> Void
    /// Shows the history of an item, read for the page that is shown.
    let showHistory: @MainActor (ItemPage, PageContext) -> Void
    /// Shows who may read an item, with a message.
    let showAccess: @MainActor (ItemPage, String) -> Void
    /// The names of a password and of its one-time code were changed; shows the password again with a message.
    let edited: @MainActor (ItemPage, ItemRow?, String) -> Void
    /// The item was deleted.
    let deleted: @MainActor (ItemPage) -> Void
    /// An item was added or changed; shows it again with a message.
    let changed: @MainActor (ItemRow, String) -> Void
    /// Shows an item again as it was.
    let back: @MainActor (ItemRow) -> Void
}
