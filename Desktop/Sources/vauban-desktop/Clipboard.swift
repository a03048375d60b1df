import CGtk
import DesktopKeychain
import VaubanSecretBytes

/// The clipboard while it holds a secret. As after `vauban get --copy`, it is cleared after a time, unless something else was copied since.
@MainActor final class Clipboard {
    private let seconds: UInt32
    private var copied: UnsafeMutableRawPointer?
    private let alarm = Alarm()
    /// Called when the clipboard no longer holds the secret.
    var ended: @MainActor () -> Void = {}

    init(seconds: UInt32) { self.seconds = seconds }

    var holdsSecret: Bool { copied != nil }

    /// Copies a secret, and returns the message for the user.
    func copy(_ secret: ItemSecret) -> String {
        guard secret.isText else { return "The secret is not text. To write it to a file, run: vauban get" }
        clear()
        secret.bytes.withUnsafeBytes { bytes in
            copied = desktop_copy_secret(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), gsize(bytes.count))
        }
        alarm.set(milliseconds: seconds * 1000) { [weak self] in self?.clear() }
        return "Copied. The clipboard is cleared in \(seconds) second\(seconds == 1 ? "" : "s"), unless it has changed by then."
    }

    func copy(text: String) { desktop_copy_text(text) }

    /// Clears the clipboard if it still holds the secret.
    func clear() {
        alarm.stop()
        guard let copied else { return }
        desktop_uncopy(copied)
        self.copied = nil
        ended()
    }
}
