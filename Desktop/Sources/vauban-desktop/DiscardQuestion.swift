import CGtk

/// The question whether to discard what the user typed, before its page is left. It stands above the page, which stays as it is.
@MainActor final class DiscardQuestion {
    let widget = Make.column(10, [], style: "desktop-confirm")
    private var keep: Widget?
    private var discarded: @MainActor () -> Void = {}
    private var kept: @MainActor () -> Void = {}

    init() {
        let keep = Make.button("Keep Editing") { [weak self] in self?.answer(discards: false) }
        let discard = Make.button("Discard", style: "destructive-action") { [weak self] in self?.answer(discards: true) }
        self.keep = keep
        let words = Make.label("Discard changes? What you typed is not saved.", role: GTK_ACCESSIBLE_ROLE_ALERT)
        for part in [words, Make.row(8, [expand(Make.row(0, [])), keep, discard])] { gtk_box_append(sheet_box(widget), part) }
        gtk_widget_add_css_class(widget, "desktop-discard")
        setVisible(widget, false)
    }

    /// Asks, in place of an earlier question.
    func ask(discarded: @escaping @MainActor () -> Void, kept: @escaping @MainActor () -> Void) {
        self.discarded = discarded
        self.kept = kept
        setVisible(widget, true)
        // The focus is on the harmless button, once GTK has handled the click or key that led here.
        MainLoop.post { [weak self] in self?.focus() }
    }

    private func focus() {
        if gtk_widget_get_visible(widget) != 0, let keep { gtk_widget_grab_focus(keep) }
    }

    /// Withdraws the question without an answer.
    func withdraw() {
        setVisible(widget, false)
        discarded = {}
        kept = {}
    }

    private func answer(discards: Bool) {
        let then = discards ? discarded : kept
        withdraw()
        then()
    }
}
