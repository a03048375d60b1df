import Glibc
import Synchronization
import VaubanAccessPolicy
import VaubanLinuxHost
import VaubanPlainText
import VaubanSecretBytes
import VaubanUserModel

/// The controlling terminal of this process as the kernel names it, never a descriptor that the program provides. Used only if the user
/// allowed it, since a program can read what is typed on its own terminal.
final class CallerTerminal: PromptSurface {
    static let place = "the terminal of the calling program"
    private let descriptor: Descriptor
    private let last = Mutex<PromptRequest?>(nil)

    private init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Returns nil if the process has no controlling terminal or runs in its background.
    static func inForeground() -> CallerTerminal? {
        let number = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(number)
        return tcgetpgrp(number) == getpgrp() ? CallerTerminal(descriptor) : nil
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    // MARK: PromptSurface

    func ask(_ request: PromptRequest, withdrawal: any Withdrawal) -> PromptResponse {
        // Where programs are distinguished, authd sends no consent prompts and no changes of credentials here: they need more explanation
        // than this terminal shows.
        guard request.consent == nil, request.change == nil, let mode = QuietMode(descriptor) else { return .cancelled }
        defer { withExtendedLifetime(mode) {} }
        let prompt = TerminalPrompt(request, after: last.withLock { $0 })
        last.withLock { $0 = request }
        write(prompt.head(notes: [CallerTerminalText.canRead]) + prompt.instruction + prompt.entry)
        defer { write("\n") }
        return request.methods.contains(.passcode) ? readPasscode(withdrawal) : awaitFinger(withdrawal)
    }

    func handleOutcome(_ outcome: PromptOutcome) {}

    private func awaitFinger(_ withdrawal: any Withdrawal) -> PromptResponse {
        while let byte = key(withdrawal) {
            if [Key.interrupt, Key.endOfText, Key.escape].contains(byte) { return .cancelled }
        }
        return withdrawal.isWithdrawn() ? .withdrawn : .cancelled
    }

    private func readPasscode(_ withdrawal: any Withdrawal) -> PromptResponse {
        var typed = SecretBytes(count: SealedPasscode.passcodeBytesMax) { _ in }
        var count = 0
        while let byte = key(withdrawal) {
            switch byte {
            case Key.interrupt, Key.endOfText, Key.escape: return .cancelled
            case Key.newline, Key.carriageReturn: return count == 0 ? .cancelled : .passcode(typed.part(0..<count))
            case Key.delete, Key.backspace: while count > 0 { count -= 1; if Self.begins(typed, at: count) { break } }
            case Key.killLine: count = 0
            case 0..<0x20: continue
            case _ where count < typed.count:
                typed.withUnsafeMutableBytes { $0[count] = byte }
                count += 1
            default: write("\u{7}")
            }
        }
        return withdrawal.isWithdrawn() ? .withdrawn : .cancelled
    }

    /// Returns whether the byte at the position begins a character in UTF-8.
    private static func begins(_ typed: borrowing SecretBytes, at position: Int) -> Bool {
        typed.withUnsafeBytes { $0[position] & 0xC0 != 0x80 }
    }

    private enum Key {
        static let interrupt: UInt8 = 0x03, endOfText: UInt8 = 0x04, backspace: UInt8 = 0x08, newline: UInt8 = 0x0A
        static let carriageReturn: UInt8 = 0x0D, killLine: UInt8 = 0x15, escape: UInt8 = 0x1B, delete: UInt8 = 0x7F
    }

    /// Reads the next key. Returns nil if the prompt was withdrawn or the terminal was closed.
    private func key(_ withdrawal: any Withdrawal) -> UInt8? {
        while true {
            var pollers = [
                pollfd(fd: withdrawal.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&pollers, nfds_t(pollers.count), -1) < 0 { if errno == EINTR { continue } else { return nil } }
            if pollers[0].revents != 0 && withdrawal.isWithdrawn() { return nil }
            guard pollers[1].revents != 0 else { continue }
            var byte: UInt8 = 0
            let count = read(descriptor.number, &byte, 1)
            if count < 0 && errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }
}

/// The texts on a program's own terminal besides prompts.
enum CallerTerminalText {
    static let canRead = "This program can read what you type here; you allowed that with: vauban allow terminal-prompts"
    static let notHere = "vauban: this prompt cannot appear in this terminal; run vauban approve in another terminal, then try again\n"

    static func waiting(at place: String) -> String { "vauban: waiting for your answer: \(PlainLine.of(place, charactersMax: 200))\n" }
}
