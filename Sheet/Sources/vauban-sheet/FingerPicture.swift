import CGtk
import Foundation
import VaubanPrompt

/// The picture of a finger. Each state has a symbol in addition to its color, and a description for screen readers.
@MainActor final class FingerPicture {
    let widget: UnsafeMutablePointer<GtkWidget>
    private var finger = SheetView.Finger.hidden
    private var beats: UInt32 = 0

    private static let width: Int32 = 92
    private static let height: Int32 = 96
    private static let beatMilliseconds: UInt32 = 80

    /// The picture to draw. There is only one sheet per process.
    private static weak var drawn: FingerPicture?
    private static var phase = 0.0

    init() {
        widget = sheet_canvas_of_role(GTK_ACCESSIBLE_ROLE_IMG)
        gtk_drawing_area_set_content_width(sheet_canvas(widget), Self.width)
        gtk_drawing_area_set_content_height(sheet_canvas(widget), Self.height)
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        gtk_widget_set_visible(widget, 0)
        Self.drawn = self
        let draw: GtkDrawingAreaDrawFunc = { _, context, _, _, _ in
            // Valid only during this call, on this thread.
            nonisolated(unsafe) let context = context
            MainActor.assumeIsolated { if let context { FingerPicture.drawn?.draw(context) } }
        }
        gtk_drawing_area_set_draw_func(sheet_canvas(widget), draw, nil, nil)
    }

    func show(_ finger: SheetView.Finger) {
        guard finger != self.finger else { return }
        self.finger = finger
        gtk_widget_set_visible(widget, finger == .hidden ? 0 : 1)
        sheet_name(widget, Self.words(finger))
        gtk_widget_queue_draw(widget)
        if beats != 0 { g_source_remove(beats) }
        beats = 0
        // Pulsates while waiting, unless the user has disabled animations.
        guard finger == .waiting, sheet_setting_is_on(gtk_settings_get_default(), "gtk-enable-animations") != 0 else { return }
        Self.phase = 0
        beats = g_timeout_add(Self.beatMilliseconds, { _ in MainActor.assumeIsolated { FingerPicture.beat() } }, nil)
    }

    private static func beat() -> gboolean {
        phase += Double(beatMilliseconds) / 1000
        if let drawn { gtk_widget_queue_draw(drawn.widget) }
        return 1
    }

    private static func words(_ finger: SheetView.Finger) -> String {
        switch finger {
        case .hidden: ""
        case .waiting: "Fingerprint: touch the reader"
        case .tryAgain: "Fingerprint: not recognized, try again"
        case .matched: "Fingerprint: recognized"
        case .disabled: "Fingerprint: not accepted, type your passcode"
        }
    }

    private struct Color { let red, green, blue: Double }

    private func draw(_ context: OpaquePointer) {
        let isDark = Appearance.isDark(widget)
        let color: Color
        switch finger {
        case .hidden: return
        case .waiting: color = isDark ? Color(red: 0.47, green: 0.68, blue: 0.93) : Color(red: 0.11, green: 0.44, blue: 0.85)
        case .tryAgain: color = isDark ? Color(red: 1, green: 0.63, blue: 0.3) : Color(red: 0.78, green: 0.33, blue: 0)
        case .matched: color = isDark ? Color(red: 0.34, green: 0.89, blue: 0.54) : Color(red: 0.1, green: 0.55, blue: 0.32)
        case .disabled: color = isDark ? Color(red: 0.6, green: 0.6, blue: 0.6) : Color(red: 0.55, green: 0.55, blue: 0.55)
        }
        let strength = finger == .waiting ? 0.8 + 0.2 * cos(Self.phase * 2.2) : finger == .disabled ? 0.75 : 1
        cairo_set_source_rgba(context, color.red, color.green, color.blue, strength)
        drawRidges(context)
        switch finger {
        case .hidden, .waiting: break
        case .tryAgain:
            drawSign(context, color) {
                Self.line(context, [(0, -6), (0, 1.5)]); Self.line(context, [(0, 6), (0, 6)])
            }
        case .matched: drawSign(context, color) { Self.line(context, [(-5.5, 0.5), (-1.5, 4.5), (6, -4.5)]) }
        case .disabled:
            drawSign(context, color) {
                Self.line(context, [(-5, -5), (5, 5)]); Self.line(context, [(-5, 5), (5, -5)])
            }
        }
    }

    /// Concentric arches; each is (radius, length of the left leg, of the right leg, start angle, end angle).
    private func drawRidges(_ context: OpaquePointer) {
        let ridges: [(radius: Double, left: Double, right: Double, from: Double, to: Double)] = [
            (5, 6, 26, 180, 360), (12, 30, 14, 180, 360), (19, 12, 30, 180, 360), (26, 27, 19, 180, 360), (33, 17, 25, 180, 360),
            (40, 0, 12, 206, 360),
        ]
        cairo_set_line_width(context, 3.4)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        for ridge in ridges {
            let (x, y) = (Double(Self.width) / 2, 46.0)
            cairo_new_path(context)
            if ridge.left > 0 {
                cairo_move_to(context, x - ridge.radius * 0.9, y + ridge.left)
                cairo_curve_to(context, x - ridge.radius, y + ridge.left * 0.6, x - ridge.radius, y + ridge.left * 0.3, x - ridge.radius, y)
            }
            cairo_arc(context, x, y, ridge.radius, ridge.from * .pi / 180, ridge.to * .pi / 180)
            cairo_curve_to(
                context, x + ridge.radius, y + ridge.right * 0.3, x + ridge.radius, y + ridge.right * 0.6, x + ridge.radius * 0.9,
                y + ridge.right)
            cairo_stroke(context)
        }
        // The ridge ends between the arches.
        cairo_move_to(context, 41.5, 62)
        cairo_curve_to(context, 42, 70, 41, 76, 39, 82)
        cairo_move_to(context, 58, 70)
        cairo_curve_to(context, 58, 76, 57, 82, 55, 87)
        cairo_stroke(context)
    }

    /// Draws a disc with a symbol at the lower right.
    private func drawSign(_ context: OpaquePointer, _ color: Color, sign: () -> Void) {
        cairo_save(context)
        cairo_translate(context, Double(Self.width) - 17, Double(Self.height) - 17)
        // Clears a gap between the ridges and the disc, which works for any window color.
        cairo_set_operator(context, CAIRO_OPERATOR_CLEAR)
        cairo_arc(context, 0, 0, 17, 0, 2 * .pi)
        cairo_fill(context)
        cairo_set_operator(context, CAIRO_OPERATOR_OVER)
        cairo_set_source_rgb(context, color.red, color.green, color.blue)
        cairo_arc(context, 0, 0, 14, 0, 2 * .pi)
        cairo_fill(context)
        if Appearance.isDark(widget) { cairo_set_source_rgb(context, 0.1, 0.1, 0.1) } else { cairo_set_source_rgb(context, 1, 1, 1) }
        sign()
        cairo_restore(context)
    }

    private static func line(_ context: OpaquePointer, _ points: [(Double, Double)]) {
        for (index, point) in points.enumerated() {
            if index == 0 { cairo_move_to(context, point.0, point.1) } else { cairo_line_to(context, point.0, point.1) }
        }
        cairo_stroke(context)
    }
}
