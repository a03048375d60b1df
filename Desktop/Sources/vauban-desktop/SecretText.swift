import CGtk
import DesktopKeychain
import VaubanSecretBytes

/// A label that shows a secret, or dots in its place. GTK copies the text, but this process erases memory when it is freed
/// (CVaubanConfinement), so the copies disappear with the text. The label cannot be selected: GTK would copy the selection to clipboards
/// that a lock does not clear.
@MainActor final class SecretText {
    let widget: Widget
    private static let dots = "••••••••••••"

    init(name: String, style: String = "desktop-secret") {
        widget = Make.label(Self.dots, style: style)
        gtk_label_set_wrap_mode(sheet_label(widget), PANGO_WRAP_CHAR)
        sheet_describe(widget, name)
    }

    /// Shows the secret; returns false if it is not text.
    func reveal(_ secret: ItemSecret) -> Bool {
        guard secret.isText else { return false }
        // C strings end with a zero byte.
        let text = secret.bytes.withUnsafeBytes { bytes in
            SecretBytes(count: bytes.count + 1) { $0.copyBytes(from: bytes) }
        }
        text.withUnsafeBytes { gtk_label_set_text(sheet_label(widget), $0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
        return true
    }

    func conceal() { setText(widget, Self.dots) }
}
