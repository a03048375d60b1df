import CGtk

/// Light and dark mode, and the style sheet that the sheet adds to the user's theme.
@MainActor enum Appearance {
    private static let style = """
        .sheet { padding: 8px 26px 22px 26px; }
        .sheet-application { font-size: 155%; font-weight: 700; }
        .sheet-wish { font-size: 112%; }
        .sheet-origin { font-size: 88%; opacity: 0.7; }
        .sheet-reason { font-size: 106%; padding: 9px 14px; border-radius: 10px; background-color: alpha(currentColor, 0.07); }
        .sheet-particular-label { opacity: 0.7; }
        .sheet-caution { font-size: 94%; padding: 7px 12px; border-radius: 10px; background-color: alpha(currentColor, 0.05); }
        .sheet-warning { font-weight: 700; background-color: alpha(#e01b24, 0.16); }
        .sheet-notice { font-weight: 600; }
        .sheet-notice.sheet-error { color: #c01c28; }
        .sheet-dark .sheet-notice.sheet-error { color: #ff938c; }
        .sheet-entry-name { font-size: 92%; opacity: 0.8; }
        .sheet-estimate { font-size: 92%; opacity: 0.85; }
        .sheet-recovery-key:focus-visible { outline: 2px solid alpha(currentColor, 0.35); outline-offset: 6px; border-radius: 4px; }
        .sheet-recovery-key-caption { font-size: 92%; opacity: 0.85; }
        .sheet-icon { -gtk-icon-size: 56px; }
        .sheet passwordentry, .sheet password, .sheet entry { min-height: 40px; font-size: 112%; }
        .sheet-buttons button { min-height: 38px; padding: 0 14px; }
        """

    static func prepare() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, style, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        // Icons come only from folders that root alone can change. Any program of the user could put another program's icon into the user's
        // folders.
        let folders = ["/usr/local/share/icons", "/usr/share/icons", "/var/lib/flatpak/exports/share/icons", "/usr/share/pixmaps"]
        let icons = gtk_icon_theme_get_for_display(gdk_display_get_default())
        var paths: [UnsafePointer<CChar>?] = folders.map { UnsafePointer(g_strdup($0)) } + [nil]
        gtk_icon_theme_set_search_path(icons, &paths)
        for path in paths { g_free(UnsafeMutableRawPointer(mutating: path)) }
        sheet_follow_scheme { isDark in
            sheet_set_setting(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", isDark)
        }
    }

    /// Returns whether the theme is dark.
    static func isDark(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        var text = GdkRGBA()
        gtk_style_context_get_color(gtk_widget_get_style_context(widget), &text)
        return 0.299 * text.red + 0.587 * text.green + 0.114 * text.blue > 0.5
    }
}
