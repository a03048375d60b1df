// Reads a line without echo directly into zeroing memory.

import Glibc
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanSecretBytes

enum SecretLine: ~Copyable {
    case line(SecretBytes)
    case cancelled
    case withdrawn
}

extension Terminal {
    /// Shows the prompt and reads one line. Ctrl-C cancels, and so does Ctrl-D at the beginning of the line. Restores the terminal before
    /// it returns. If the user can answer elsewhere (`hasOtherWay`) and the prompt is withdrawn before anything was typed, it counts as
    /// answered there, and this stops waiting for input.
    func readSecretLine(_ prompt: String, bytesMax: Int, withdrawal: (any Withdrawal)? = nil, hasOtherWay: Bool = false) -> SecretLine {
        guard let mode = TerminalMode(self, dropsInput: true, { $0.readSecretly() }) else { return .cancelled }
        defer { withExtendedLifetime(mode) {} }
        write(prompt)
        defer { write("\n") }
        var editor = SecretEditor(bytesMax: bytesMax)
        while true {
            guard waitForKey(withdrawal) else {
                if hasOtherWay && editor.isEmpty { tcflush(descriptor.number, TCIFLUSH) } else { dropKeys() }
                return .withdrawn
            }
            var byte: UInt8 = 0
            let count = read(descriptor.number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            // A closed terminal counts as a cancellation.
            guard count == 1 else { return .cancelled }
            let step = editor.take(byte)
            byte = 0
            switch step {
            case .more: continue
            case .full: write("\u{7}")
            case .cancelled: return .cancelled
            case .done: return .line(editor.line)
            }
        }
    }

    /// Discards further input for a withdrawn prompt, until the end of the line or a pause: it is part of a passcode, and the next program
    /// that reads this terminal may be the one that caused the withdrawal.
    private func dropKeys() {
        write("\nThis prompt is gone; what you type is ignored.")
        var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = poll(&poller, 1, Self.typingPause)
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { return }
            var byte: UInt8 = 0
            let count = read(descriptor.number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            guard count == 1, ![0x0A, 0x0D, 0x03, 0x04].contains(byte) else { return }
        }
    }

    /// The pause, in milliseconds, after which the user is taken to have stopped typing.
    private static let typingPause: Int32 = 2_000

    /// Waits for a key and returns whether there is one; false if the prompt was withdrawn first.
    func waitForKey(_ withdrawal: (any Withdrawal)?) -> Bool {
        guard let withdrawal else { return true }
        while true {
            var pollers = [
                pollfd(fd: withdrawal.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&pollers, nfds_t(pollers.count), -1) < 0 && errno != EINTR { return true }
            if pollers[0].revents != 0 && withdrawal.isWithdrawn() { return false }
            if pollers[1].revents != 0 { return true }
        }
    }
}

/// The editing keys of a line without echo.
private struct SecretEditor: ~Copyable {
    enum Step { case more, full, cancelled, done }
    private enum Escape { case none, began, within }

    private var bytes: SecretBytes
    private var count = 0
    private var escape = Escape.none

    init(bytesMax: Int) { bytes = SecretBytes(count: bytesMax) { _ in } }

    var line: SecretBytes { bytes.part(0..<count) }
    var isEmpty: Bool { count == 0 }

    mutating func take(_ byte: UInt8) -> Step {
        // Arrow and function keys send escape sequences, whose bytes are not part of the secret.
        switch (escape, byte) {
        case (.none, 0x1B): escape = .began; return .more
        case (.began, 0x5B), (.began, 0x4F): escape = .within; return .more
        case (.within, 0x40...0x7E): escape = .none; return .more
        case (.within, 0x20...0x3F): return .more
        default: escape = .none
        }
        switch byte {
        case 0x0A, 0x0D: return .done
        case 0x03: return .cancelled
        case 0x04: return count == 0 ? .cancelled : .done
        case 0x7F, 0x08: removeLast(); return .more
        case 0x15, 0x17: erase(from: 0); return .more
        case 0..<0x20: return .more
        default:
            guard count < bytes.count else { return .full }
            let position = count
            bytes.withUnsafeMutableBytes { $0[position] = byte }
            count += 1
            return .more
        }
    }

    /// Removes one character: in UTF-8 a leading byte and its continuation bytes.
    private mutating func removeLast() {
        while count > 0 {
            let position = count - 1
            let isContinuation = bytes.withUnsafeBytes { $0[position] & 0xC0 == 0x80 }
            erase(from: position)
            if !isContinuation { return }
        }
    }

    private mutating func erase(from start: Int) {
        bytes.withUnsafeMutableBytes { for position in start..<$0.count { $0[position] = 0 } }
        count = start
    }
}
