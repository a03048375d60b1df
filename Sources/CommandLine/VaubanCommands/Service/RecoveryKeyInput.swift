import VaubanAuthenticationClient
import VaubanPasscode
import VaubanRefusal
import VaubanSecretBytes

/// A recovery key that the user types from paper: 48 digits without echo. A typing error is reported by its group, and only that group is
/// typed again.
enum RecoveryKeyInput {
    static let bytesMax = 256

    static func ask(on terminal: Terminal) throws(Refusal) -> RecoveryKey {
        while true {
            var digits = try line(
                "Recovery key, \(RecoveryKey.groups) groups of \(RecoveryKey.digitsPerGroup) digits (\(TerminalPrompt.cancelHint)): ",
                terminal)
            while true {
                do throws(RecoveryKeyError) {
                    return try RecoveryKey(typed: digits)
                } catch {
                    terminal.write("\(words(error)).\n")
                    guard case .typo(let group) = error else { break }
                    digits = try corrected(digits, group: group, terminal)
                }
            }
        }
    }

    /// Reads the key from a descriptor, or asks for it on the terminal.
    static func read(_ descriptor: Int32?, _ client: ServiceClient, options: String) throws -> RecoveryKey {
        guard let descriptor else {
            guard let terminal = client.user.terminal else {
                throw Refusal(.interactionNotAllowed, "No terminal to ask for the recovery key; use \(options)")
            }
            return try ask(on: terminal)
        }
        let line = try SecretReader.line(from: descriptor, max: bytesMax)
        do throws(RecoveryKeyError) {
            return try RecoveryKey(typed: line)
        } catch {
            // A mistyped key never reaches the enclave.
            throw Refusal(.badParameter, words(error))
        }
    }

    static func words(_ fault: RecoveryKeyError) -> String {
        switch fault {
        case .wrongLength(let digits):
            "A recovery key has \(RecoveryKey.groups * RecoveryKey.digitsPerGroup) digits, and this has \(digits)"
        case .notADigit: "A recovery key contains only digits, spaces and hyphens"
        case .typo(let group): "Group \(group) of \(RecoveryKey.groups) is mistyped"
        }
    }

    private static func line(_ prompt: String, _ terminal: Terminal) throws(Refusal) -> SecretBytes {
        try PasscodeInput.ask(prompt, on: terminal, bytesMax: bytesMax)
    }

    /// Returns the same digits with one group typed again.
    private static func corrected(_ typed: borrowing SecretBytes, group: Int, _ terminal: Terminal) throws(Refusal) -> SecretBytes {
        while true {
            let again = try line("Repeat group \(group): ", terminal)
            guard
                again.withUnsafeBytes({
                    $0.count(where: isDigit) == RecoveryKey.digitsPerGroup && $0.allSatisfy { isDigit($0) || isSeparator($0) }
                })
            else {
                terminal.write("A group has \(RecoveryKey.digitsPerGroup) digits.\n")
                continue
            }
            let first = (group - 1) * RecoveryKey.digitsPerGroup
            return SecretBytes(count: RecoveryKey.groups * RecoveryKey.digitsPerGroup) { target in
                copyDigits(of: typed, to: target, from: 0)
                copyDigits(of: again, to: target, from: first)
            }
        }
    }

    private static func copyDigits(of secret: borrowing SecretBytes, to target: UnsafeMutableRawBufferPointer, from start: Int) {
        secret.withUnsafeBytes { bytes in
            var place = start
            for byte in bytes where isDigit(byte) && place < target.count {
                target[place] = byte
                place += 1
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-") }
}
