// Prompts that a key or a word answers, not a secret.

import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost

/// A key that ends a wait.
enum AwaitedKey {
    case enter
    case cancel
    /// The awaited event happened, or the prompt no longer needs an answer.
    case withdrawn
}

extension Terminal {
    /// Shows the prompt and waits for Return, for Ctrl-C, Ctrl-D or Esc, or for the withdrawal of the prompt.
    func awaitKey(_ prompt: String, takesReturn: Bool, withdrawal: (any Withdrawal)? = nil) -> AwaitedKey {
        guard let mode = TerminalMode(self, dropsInput: true, { $0.readSecretly() }) else { return .cancel }
        defer { withExtendedLifetime(mode) {} }
        write(prompt)
        defer { write("\n") }
        while true {
            guard waitForKey(withdrawal) else { return .withdrawn }
            var byte: UInt8 = 0
            let count = read(descriptor.number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            // A closed terminal counts as a cancellation.
            guard count == 1 else { return .cancel }
            switch byte {
            case 0x0A, 0x0D: if takesReturn { return .enter }
            case 0x03, 0x04: return .cancel
            case 0x1B: if !dropSequence() { return .cancel }
            default: continue
            }
        }
    }

    /// Shows the prompt and reads one line with echo. Returns nil if the user cancels.
    func readWord(_ prompt: String) -> String? {
        guard let mode = TerminalMode(self, dropsInput: true, { $0.readSecretly() }) else { return nil }
        defer { withExtendedLifetime(mode) {} }
        write(prompt)
        defer { write("\n") }
        var word: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = read(descriptor.number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1 else { return nil }
            switch byte {
            case 0x0A, 0x0D: return String(decoding: word, as: UTF8.self)
            case 0x03, 0x04: return nil
            case 0x1B: if !dropSequence() { return nil }
            case 0x7F, 0x08:
                if word.popLast() != nil { write("\u{8} \u{8}") }
            // The expected words are ASCII; anything else is a typing error.
            case 0x20..<0x7F where word.count < 64:
                word.append(byte)
                write(String(UnicodeScalar(byte)))
            default: write("\u{7}")
            }
        }
    }

    /// Returns whether an Esc began a longer key, such as an arrow, and discards the rest of that key.
    private func dropSequence() -> Bool {
        var isSequence = false
        var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        while poll(&poller, 1, Self.sequencePause) > 0 {
            var byte: UInt8 = 0
            guard read(descriptor.number, &byte, 1) == 1 else { return isSequence }
            let isIntroducer = !isSequence && (byte == 0x5B || byte == 0x4F)
            isSequence = true
            if !isIntroducer && (0x40...0x7E).contains(byte) { return true }
        }
        return isSequence
    }

    /// The longest pause, in milliseconds, between the bytes of one key. They arrive together even over a slow connection, unlike the
    /// user's next key.
    private static let sequencePause: Int32 = 50
}
