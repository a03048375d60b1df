import CGtk

/// The application's icon, or the first letter of its name if the system has no icon for it.
@MainActor final class ApplicationPicture {
    let widget: UnsafeMutablePointer<GtkWidget>
    private let image: UnsafeMutablePointer<GtkWidget>
    private let tile: UnsafeMutablePointer<GtkWidget>
    private var letter = ""

    private static let size: Int32 = 56
    private static weak var drawn: ApplicationPicture?

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
        image = gtk_image_new()
        tile = sheet_canvas_of_role(GTK_ACCESSIBLE_ROLE_PRESENTATION)
        gtk_image_set_pixel_size(sheet_image(image), Self.size)
        gtk_drawing_area_set_content_width(sheet_canvas(tile), Self.size)
        gtk_drawing_area_set_content_height(sheet_canvas(tile), Self.size)
        for each in [image, tile] {
            gtk_widget_set_halign(each, GTK_ALIGN_CENTER)
            gtk_box_append(sheet_box(widget), each)
        }
        Self.drawn = self
        let draw: GtkDrawingAreaDrawFunc = { _, context, _, _, _ in
            // Valid only during this call, on this thread.
            nonisolated(unsafe) let context = context
            MainActor.assumeIsolated { if let context { ApplicationPicture.drawn?.draw(context) } }
        }
        gtk_drawing_area_set_draw_func(sheet_canvas(tile), draw, nil, nil)
    }

    func show(_ icon: String?, name: String) {
        let isKnown: Bool
        switch icon {
        case let path? where path.hasPrefix("/"):
            gtk_image_set_from_file(sheet_image(image), path)
            isKnown = gtk_image_get_storage_type(sheet_image(image)) == GTK_IMAGE_PAINTABLE
        case let name?:
            isKnown = gtk_icon_theme_has_icon(gtk_icon_theme_get_for_display(gdk_display_get_default()), name) != 0
            gtk_image_set_from_icon_name(sheet_image(image), name)
        case nil: isKnown = false
        }
        gtk_widget_set_visible(image, isKnown ? 1 : 0)
        gtk_widget_set_visible(tile, isKnown ? 0 : 1)
        letter = name.first { $0.isLetter || $0.isNumber }.map { $0.uppercased() } ?? "?"
        gtk_widget_queue_draw(tile)
    }

    private func draw(_ context: OpaquePointer) {
        let (side, radius) = (Double(Self.size), 13.0)
        let isDark = Appearance.isDark(tile)
        cairo_new_sub_path(context)
        cairo_arc(context, side - radius, radius, radius, -.pi / 2, 0)
        cairo_arc(context, side - radius, side - radius, radius, 0, .pi / 2)
        cairo_arc(context, radius, side - radius, radius, .pi / 2, .pi)
        cairo_arc(context, radius, radius, radius, .pi, 1.5 * .pi)
        cairo_close_path(context)
        let shade = isDark ? 0.36 : 0.45
        cairo_set_source_rgb(context, shade, shade + 0.03, shade + 0.09)
        cairo_fill(context)
        let layout = gtk_widget_create_pango_layout(tile, letter)
        let font = pango_font_description_from_string("Sans Bold 20")
        pango_layout_set_font_description(layout, font)
        var (width, height): (Int32, Int32) = (0, 0)
        pango_layout_get_pixel_size(layout, &width, &height)
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_move_to(context, (side - Double(width)) / 2, (side - Double(height)) / 2)
        pango_cairo_show_layout(context, layout)
        pango_font_description_free(font)
        g_object_unref(UnsafeMutableRawPointer(layout))
    }
}
