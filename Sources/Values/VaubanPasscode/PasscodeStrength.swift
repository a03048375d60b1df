// What an offline guesser has to try. The passcode is judged where it lies: no text of it and no copy is made.

internal import Glibc
package import VaubanSecretBytes

/// What can be said of a passcode without keeping it: of which signs it is made, how many there are, and whether it is
/// among the first that anyone tries.
package struct PasscodeStrength: Hashable, Sendable {
    package enum Kind: Hashable, CaseIterable, Sendable {
        case digits
        case lettersAndDigits
        /// Letters or digits with spaces, punctuation, or letters beyond ASCII.
        case everything
    }

    package let kind: Kind
    /// Code points of UTF-8, which is what keys and key combinations bring.
    package let characters: Int
    /// The binary logarithm of how many passcodes of this length the same signs allow. An upper bound: people choose words,
    /// names and dates, of which there are far fewer. For an obvious passcode, of how many of those there are.
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

    /// In UTF-8 these continue a character that another byte began.
    static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// The signs that a guesser must reckon with, as the passcode uses them.
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

        /// Beyond ASCII as many as one user's keyboard may bring, not all that Unicode has.
        var count: Int {
            (digits ? 10 : 0) + (small ? 26 : 0) + (capital ? 26 : 0) + (punctuation ? 33 : 0) + (others ? 128 : 0)
        }
    }
}
