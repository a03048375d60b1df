import CGtk
import DesktopKeychain
import VaubanLinuxHost

/// The window. It shows a keychain that is unlocked or locked, or says why there is none.
@MainActor final class MainWindow {
    /// The only window of the process.
    static var current: MainWindow?

    private let options: Options
    private let window: Widget = gtk_window_new()
    private let place = Make.column(0, [])
    private let clipboard: Clipboard
    private let lockedPage: StatusPage
    private let unavailablePage: StatusPage
    private var lockButton: Widget?
    private var addButton: Widget?
    private var keychain: ItemKeychain?
    private var watch: EnvironmentListenerHold?
    private var browser: ItemBrowser?
    private var unlocking: CallCancellation?
    private var isClosed = false

    init(_ options: Options) {
        self.options = options
        clipboard = Clipboard(seconds: options.clearAfter)
        lockedPage = StatusPage(icon: "changes-prevent-symbolic") { MainWindow.current?.unlockClicked() }
        unavailablePage = StatusPage(icon: "dialog-password-symbolic") { MainWindow.current?.start() }
        clipboard.ended = { MainWindow.current?.endIfClosed() }
        gtk_window_set_title(sheet_window(window), "Keychain")
        gtk_window_set_icon_name(sheet_window(window), "dialog-password")
        gtk_window_set_default_size(sheet_window(window), 1080, 700)
        let header: Widget = gtk_header_bar_new()
        let add = Make.iconButton("list-add-symbolic", "Add Password") { MainWindow.current?.browser?.addItem() }
        let lock = Make.iconButton("system-lock-screen-symbolic", "Lock") { MainWindow.current?.lock() }
        gtk_header_bar_pack_start(desktop_header(header), add)
        gtk_header_bar_pack_end(desktop_header(header), lock)
        (addButton, lockButton) = (add, lock)
        gtk_window_set_titlebar(sheet_window(window), header)
        gtk_window_set_child(sheet_window(window), place)
        connect()
    }

    private func connect() {
        sheet_on_close(
            window,
            { _, _ in
                MainActor.assumeIsolated { MainWindow.current?.close() }
                return 1
            }, nil)
        on(window, signal: "notify::is-active") { MainWindow.current?.activeChanged() }
        guard let keys = gtk_event_controller_key_new() else { return }
        sheet_on_key(
            keys,
            { _, key, _, state, _ in
                guard state.rawValue & GDK_CONTROL_MASK.rawValue != 0 else { return 0 }
                return MainActor.assumeIsolated { MainWindow.current?.shortcut(key) == true } ? 1 : 0
            }, nil)
        gtk_widget_add_controller(window, keys)
    }

    /// Handles a key that is pressed together with Control. Returns false if it has no function.
    private func shortcut(_ key: UInt32) -> Bool {
        switch key {
        case UInt32(GDK_KEY_f): browser?.focusSearch()
        case UInt32(GDK_KEY_n): browser?.addItem()
        case UInt32(GDK_KEY_comma): browser?.showSettings()
        case UInt32(GDK_KEY_l): lock()
        case UInt32(GDK_KEY_r): browser?.reload()
        case UInt32(GDK_KEY_w), UInt32(GDK_KEY_q): close()
        default: return false
        }
        return true
    }

    /// Finds the keychain, and shows the window.
    func start() {
        gtk_window_present(sheet_window(window))
        Style.mark(window)
        MainLoop.background {
            let keychain = try ItemKeychain()
            return (keychain, try keychain.lockStatus())
        } then: { result in
            MainWindow.current?.found(result)
        }
    }

    private func found(_ result: Result<(ItemKeychain, ItemKeychain.LockStatus), any Error>) {
        switch result {
        case .success(let (keychain, status)):
            // If the window cannot learn of a lock, it shows nothing: secrets would remain visible after one.
            do {
                watch = try keychain.watchLock { status in
                    MainLoop.post { MainWindow.current?.lockChanged(status) }
                }
            } catch {
                return showUnavailable(Explanation(error).text)
            }
            self.keychain = keychain
            show(status)
        case .failure(let error): showUnavailable(Explanation(error).text)
        }
    }

    // MARK: The lock

    /// Without the service nothing is shown, since the window would not learn of a lock.
    private func lockChanged(_ status: ItemKeychain.LockStatus?) {
        // The process of a closed window remains while the clipboard holds a secret.
        if isClosed {
            if status != .unlocked { clipboard.clear() }
            return
        }
        if let status { return show(status) }
        guard gtk_widget_get_parent(unavailablePage.widget) == nil else { return }
        clipboard.clear()
        showUnavailable("Vauban cannot be reached. Your items are shown again when it runs.")
    }

    private func show(_ status: ItemKeychain.LockStatus) {
        switch status {
        case .unlocked: showItems()
        case .locked: showLocked("Your keychain is locked", "Unlock it to see your passwords.")
        case .beforeFirstUnlock: showLocked("Your keychain is locked", "It has not been unlocked since it started.")
        case .unreadable(let why): showUnavailable(why)
        }
    }

    private func showItems() {
        guard browser == nil, let keychain, !isClosed else { return }
        unlocking = nil
        let browser = ItemBrowser(keychain: keychain, options: options, clipboard: clipboard) { MainWindow.current?.showLockedIfOpen() }
        self.browser = browser
        present(browser.widget)
        browser.reload { browser.focusSearch() }
    }

    /// A request found the keychain locked before the notice of the lock arrived. If the items are no longer shown, there is nothing to do:
    /// the service may have stopped since.
    private func showLockedIfOpen() {
        guard browser != nil else { return }
        show(.locked)
    }

    private func showLocked(_ title: String, _ text: String) {
        clipboard.clear()
        guard browser != nil || gtk_widget_get_parent(lockedPage.widget) == nil else { return }
        lockedPage.show(title, text + lossOfInput, button: "Unlock")
        leaveItems()
        present(lockedPage.widget)
        lockedPage.focus()
    }

    private func showUnavailable(_ why: String) {
        unavailablePage.show("There is no keychain to show", why + lossOfInput, button: "Try Again")
        leaveItems()
        present(unavailablePage.widget)
        unavailablePage.focus()
    }

    /// A sentence about what the user typed into a page that is about to disappear; empty if that is nothing.
    private var lossOfInput: String { browser?.hasUnsavedInput == true ? " Your changes were not saved." : "" }

    private func leaveItems() {
        browser?.end()
        browser = nil
    }

    /// Replaces the content of the window. Pages that are used again keep a reference to themselves.
    private func present(_ content: Widget) {
        empty(place)
        gtk_widget_set_hexpand(content, 1)
        gtk_widget_set_vexpand(content, 1)
        gtk_box_append(sheet_box(place), content)
        for button in [lockButton, addButton] { if let button { setVisible(button, browser != nil) } }
        Residue.erase()
    }

    private func lock() {
        guard let keychain, browser != nil else { return }
        MainLoop.background {
            try keychain.lock()
        } then: { result in
            if case .failure(let error) = result { MainWindow.current?.report(Explanation(error).text) }
        }
    }

    private func report(_ text: String) { browser?.report(text) }

    /// Prompts for the passcode or a finger. During the prompt, the same button cancels it.
    private func unlockClicked() {
        if let unlocking { return unlocking.cancel() }
        guard let keychain else { return }
        let call = CallCancellation()
        unlocking = call
        lockedPage.setButton("Cancel")
        lockedPage.report("")
        MainLoop.background {
            try keychain.unlock(
                waiting: { place in MainLoop.post { MainWindow.current?.unlockWaits(place, call) } }, cancellation: call)
        } then: { result in
            MainWindow.current?.unlockEnded(result, call)
        }
    }

    private func unlockWaits(_ place: String, _ call: CallCancellation) {
        if unlocking === call { lockedPage.report("Waiting for your answer: \(place)") }
    }

    private func unlockEnded(_ result: Result<Void, any Error>, _ call: CallCancellation) {
        guard unlocking === call else { return }
        unlocking = nil
        lockedPage.setButton("Unlock")
        lockedPage.report("")
        switch result {
        case .success: show(.unlocked)
        case .failure(let error):
            let explanation = Explanation(error)
            if !explanation.isCancelled, !call.isCancelled { lockedPage.report(explanation.text, isError: true) }
        }
    }

    // MARK: The window

    /// Programs may have changed items while the user was elsewhere.
    private func activeChanged() {
        Style.mark(window)
        if gtk_window_is_active(sheet_window(window)) != 0 { browser?.refresh() }
    }

    /// Closes the window, unless the user keeps unsaved input.
    private func close() {
        guard let browser else { return closeNow() }
        browser.leave { MainWindow.current?.closeNow() }
    }

    /// Hides the window and ends the process. If the clipboard holds a secret, the process ends only when that is cleared, since other
    /// programs read it from here.
    private func closeNow() {
        isClosed = true
        leaveItems()
        empty(place)
        setVisible(window, false)
        sheet_publish_hidden(window)
        unlocking?.cancel()
        endIfClosed()
    }

    private func endIfClosed() {
        guard isClosed, !clipboard.holdsSecret else { return }
        watch = nil
        Program.end()
    }
}
