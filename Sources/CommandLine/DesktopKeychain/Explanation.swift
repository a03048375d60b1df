import VaubanKeychainClient
import VaubanRefusal

/// An error in words for the window.
package struct Explanation: Hashable, Sendable {
    package let text: String
    /// The keychain is locked, so the window shows the locked page instead.
    package let isLocked: Bool
    /// The user or this window withdrew the request, which needs no message.
    package let isCancelled: Bool

    package init(_ error: any Error) {
        guard let refusal = error as? Refusal else {
            text = "\(error)"
            isLocked = false
            isCancelled = false
            return
        }
        isLocked = [.locked, .beforeFirstUnlock].contains(refusal.reason)
        isCancelled = refusal.reason == .cancelled
        switch refusal.reason {
        case .noPromptAgent:
            text = "Nothing can show a prompt here. Start the sheet of Vauban, or run in a terminal: vauban approve"
        case .passcodeNotSet: text = "No passcode is set. To set one, run in a terminal: vauban passcode set"
        case .itemNotFound where refusal.detail == nil: text = "The item no longer exists."
        default: text = Self.sentence(refusal.message)
        }
    }

    private static func sentence(_ text: String) -> String {
        let capital = text.prefix(1).uppercased() + text.dropFirst()
        return capital.hasSuffix(".") ? capital : "\(capital)."
    }
}
