// The number of passcodes that an offline guesser must try. The passcode is classified in place, without making a text or a copy of it.

internal import Glibc
package import VaubanSecretBytes

/// The properties of a passcode that can be stated without keeping it: the kinds of characters, their number, and whether it is among the
/// first guesses.
package struct PasscodeStrength: Hashable, Sendable {
    package enum Kind: Hashable, CaseIterable, Sendable {
        case digits
        case lettersAndDigits
        /// Letters or digits with spaces, punctuation, or non-ASCII characters.
        case everything
    }

    package let kind: Kind
    /// Number of UTF-8 code points, which corresponds to keystrokes.
    package let characters: Int
    /// The binary logarithm of the number of passcodes with this length and these kinds of characters. It is an upper bound: users choose
    /// words, names and dates, of which there are far fewer. For an obvious passcode, the number of obvious ones.
    package let guessesLog2: Double
    package let obvious: ObviousPasscode?

    package init(of passcode: borrowing SecretBytes) {
        let (signs, characters) = passcode.withUnsafeBytes { bytes in
            (Signs(bytes), bytes.count { !Self.isContinuation($0) })
        }
        self.characters = characters
        kind = signs.kind
        let all = Double(characters) * log2(Double(max(signs.count, 1)))
        obvious = passcode.withUnsafeBytes(ObviousPasscode.init(in:))
        guessesLog2 = obvious == nil ? all : min(all, ObviousPasscode.guessesLog2)
    }

    /// Returns whether a UTF-8 byte continues a character.
    static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// The kinds of characters that a guesser must consider.
    private struct Signs {
        private var digits = false, small = false, capital = false, punctuation = false, others = false

        init(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digits = true
                case UInt8(ascii: "a")...UInt8(ascii: "z"): small = true
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): capital = true
                case 0..<0x80: punctuation = true
                default: others = true
                }
            }
        }

        var kind: Kind {
            if punctuation || others { return .everything }
            return small || capital ? .lettersAndDigits : .digits
        }

        /// Counts only as many non-ASCII characters as one keyboard can produce, not all of Unicode.
        var count: Int {
            (digits ? 10 : 0) + (small ? 26 : 0) + (capital ? 26 : 0) + (punctuation ? 33 : 0) + (others ? 128 : 0)
        }
    }
}
