import CGtk

/// The style sheet that the application adds to the user's theme, light or dark.
@MainActor enum Style {
    private static let sheet = """
        .desktop-left { background-color: alpha(currentColor, 0.04); }
        .desktop-sections { padding-top: 7px; background-color: transparent; }
        .desktop-sections row { padding: 7px 12px; border-radius: 8px; margin: 1px 6px; }
        .desktop-sections .desktop-count { opacity: 0.55; font-size: 90%; }
        .desktop-search { margin: 8px; }
        .desktop-list { background-color: transparent; }
        .desktop-list row { padding: 7px 12px; }
        .desktop-row-title { font-weight: 600; }
        .desktop-row-subtitle { font-size: 90%; opacity: 0.65; }
        .desktop-page { padding: 24px 28px 20px 28px; }
        .desktop-title { font-size: 165%; font-weight: 800; }
        .desktop-subtitle { opacity: 0.65; }
        .desktop-card { border-radius: 12px; border: 1px solid alpha(currentColor, 0.13); background-color: alpha(currentColor, 0.03); }
        .desktop-field { padding: 9px 10px 9px 14px; min-height: 30px; border-bottom: 1px solid alpha(currentColor, 0.09); }
        .desktop-field:last-child { border-bottom: none; }
        .desktop-field-title { font-size: 86%; opacity: 0.65; }
        .desktop-secret { font-family: monospace; font-size: 108%; }
        .desktop-code { font-family: monospace; font-size: 150%; font-weight: 700; letter-spacing: 2px; }
        .desktop-protection { font-size: 94%; opacity: 0.8; }
        .desktop-notice { padding: 8px 12px; border-radius: 10px; background-color: alpha(currentColor, 0.06); }
        .desktop-notice.desktop-error { color: #c01c28; }
        .desktop-dark .desktop-notice.desktop-error { color: #ff938c; }
        .desktop-confirm { padding: 12px 14px; border-radius: 12px; background-color: alpha(#e01b24, 0.12); }
        .desktop-discard { margin: 12px 28px 0 28px; }
        .desktop-calm-title { font-size: 150%; font-weight: 800; }
        .desktop-calm-icon { opacity: 0.55; }
        .desktop-hint { opacity: 0.6; }
        .desktop-notes { border-radius: 8px; border: 1px solid alpha(currentColor, 0.15); padding: 7px 9px; }
        .desktop-heading { font-weight: 700; }
        .desktop-command { font-family: monospace; font-size: 92%; opacity: 0.8; }
        .desktop-side { margin: 1px 6px; padding: 7px 12px; font-weight: normal; border-radius: 8px; }
        .desktop-sides { padding: 4px 0 6px 0; }
        .desktop-big { min-height: 36px; padding: 0 22px; }
        """

    static func prepare() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, sheet, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        sheet_follow_scheme { isDark in
            sheet_set_setting(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", isDark)
        }
    }

    /// Adds a style class to a window with a dark theme, for colors that CSS cannot derive from those of the theme.
    static func mark(_ window: Widget) {
        var text = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(window), &text)
        let isDark = 0.299 * text.red + 0.587 * text.green + 0.114 * text.blue > 0.5
        if isDark { gtk_widget_add_css_class(window, "desktop-dark") } else { gtk_widget_remove_css_class(window, "desktop-dark") }
    }
}
