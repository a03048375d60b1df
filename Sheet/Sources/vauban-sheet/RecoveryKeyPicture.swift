import CGtk
import VaubanPrompt

/// The digits of a recovery key, drawn as a picture. GTK sends all text of widgets to the accessibility bus, where every program of the
/// user can listen. A user who needs a screen reader has the digits read with a key and not with a button, because such a program could
/// press a button.
@MainActor final class RecoveryKeyPicture {
    let widget: UnsafeMutablePointer<GtkWidget>
    /// The check box with which the user confirms that the key is written down.
    let written: UnsafeMutablePointer<GtkWidget>
    let canvas: UnsafeMutablePointer<GtkWidget>
    private let caption = Line("sheet-recovery-key-caption")
    /// Calls its argument with the digits, which include line breaks.
    private var digits: (((UnsafeRawBufferPointer) -> Void) -> Void)?

    /// The picture to draw. There is only one sheet per process.
    private static weak var drawn: RecoveryKeyPicture?
    private static let name = "Recovery key: eight groups of six digits, not read to screen readers until you press F2"
    private static let advice = "Press F2 to have a screen reader read it. Your other programs can then read it too."

    init() {
        widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)
        canvas = sheet_canvas_of_role(GTK_ACCESSIBLE_ROLE_IMG)
        gtk_widget_add_css_class(canvas, "sheet-recovery-key")
        gtk_widget_set_halign(canvas, GTK_ALIGN_CENTER)
        gtk_widget_set_focusable(canvas, 1)
        written = gtk_check_button_new()
        gtk_widget_set_halign(written, GTK_ALIGN_CENTER)
        for part in [canvas, caption.widget, written] { gtk_box_append(sheet_box(widget), part) }
        gtk_widget_set_visible(widget, 0)
        Self.drawn = self
        let draw: GtkDrawingAreaDrawFunc = { _, context, _, _, _ in
            // Valid only during this call, on this thread.
            nonisolated(unsafe) let context = context
            MainActor.assumeIsolated { if let context { RecoveryKeyPicture.drawn?.draw(context) } }
        }
        gtk_drawing_area_set_draw_func(sheet_canvas(canvas), draw, nil, nil)
    }

    /// Whether the user has confirmed that the key is written down.
    var isWritten: Bool { gtk_check_button_get_active(sheet_check(written)) != 0 }

    /// Shows the key that `digits` provides, and a check box with the title `choice`; hides both if `choice` is nil.
    func show(_ choice: String?, _ digits: @escaping ((UnsafeRawBufferPointer) -> Void) -> Void) {
        gtk_check_button_set_active(sheet_check(written), 0)
        gtk_widget_set_visible(widget, choice == nil ? 0 : 1)
        self.digits = choice == nil ? nil : digits
        sheet_name(canvas, Self.name)
        caption.show(choice == nil ? "" : Self.advice)
        guard let choice else { return }
        gtk_check_button_set_label(sheet_check(written), choice)
        // All keys have the same size, which depends on the user's font.
        let group = "000000-000000-000000-000000"
        withLayout("\(group)\n\(group)") { layout in
            var (width, height): (Int32, Int32) = (0, 0)
            pango_layout_get_pixel_size(layout, &width, &height)
            gtk_drawing_area_set_content_width(sheet_canvas(canvas), width)
            gtk_drawing_area_set_content_height(sheet_canvas(canvas), height)
        }
        gtk_widget_queue_draw(canvas)
    }

    /// Makes the digits the accessible name of the picture, so that a screen reader reads them.
    func announceToScreenReaders() {
        digits? { bytes in
            // C strings end with a zero byte.
            let text = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
            text.copyBytes(from: bytes)
            text[bytes.count] = 0
            if let start = text.bindMemory(to: CChar.self).baseAddress {
                sheet_name(canvas, start)
                sheet_overwrite(start)
            }
            text.deallocate()
        }
        gtk_widget_grab_focus(canvas)
        caption.show("")
    }

    private func draw(_ context: OpaquePointer) {
        digits? { bytes in
            withLayout(nil) { layout in
                pango_layout_set_text(layout, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
                if Appearance.isDark(widget) { cairo_set_source_rgb(context, 1, 1, 1) } else { cairo_set_source_rgb(context, 0, 0, 0) }
                cairo_move_to(context, 0, 0)
                pango_cairo_show_layout(context, layout)
                // The layout has made a copy of the digits.
                sheet_overwrite(pango_layout_get_text(layout))
            }
            sheet_overwrite_stack()
        }
    }

    private func withLayout(_ text: String?, _ body: (OpaquePointer) -> Void) {
        guard let layout = gtk_widget_create_pango_layout(canvas, text) else { return }
        let font = pango_font_description_from_string("Monospace 17")
        pango_layout_set_font_description(layout, font)
        pango_font_description_free(font)
        pango_layout_set_spacing(layout, 6 * PANGO_SCALE)
        body(layout)
        g_object_unref(UnsafeMutableRawPointer(layout))
    }
}
