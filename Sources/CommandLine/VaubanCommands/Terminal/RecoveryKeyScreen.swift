// A recovery key on the terminal, once. Its digits go from the zeroing type to the terminal, with no text in between.

import VaubanLinuxHost
import VaubanPasscode
import VaubanSecretBytes

extension RecoveryKey {
    /// The digits as they are written on paper: groups with hyphens between them, and a line end after each line.
    borrowing func written(groupsPerLine: Int, indent: Int) -> SecretBytes {
        let size = Self.digitsPerGroup
        let lines = (Self.groups + groupsPerLine - 1) / groupsPerLine
        return SecretBytes(count: Self.groups * (size + 1) + lines * indent) { target in
            digits.withUnsafeBytes { digits in
                var place = 0
                for group in 0..<Self.groups {
                    if group % groupsPerLine == 0 {
                        for _ in 0..<indent { target[place] = UInt8(ascii: " "); place += 1 }
                    }
                    for digit in 0..<size { target[place + digit] = digits[group * size + digit] }
                    let endsLine = (group + 1) % groupsPerLine == 0 || group + 1 == Self.groups
                    target[place + size] = endsLine ? 0x0A : UInt8(ascii: "-")
                    place += size + 1
                }
            }
        }
    }
}

extension Terminal {
    /// Shows the key until Return, on the terminal's second screen where it has one, so that it is not among the lines that
    /// one can scroll back to. Answers whether it was shown.
    func show(_ key: borrowing RecoveryKey) -> Bool {
        let hasScreen = Self.hasAlternateScreen
        let lines = key.written(groupsPerLine: RecoveryKey.groups / 2, indent: 4)
        // Whatever ends this process takes the key off the screen too.
        let duty = Interruption.add { [self] in if hasScreen { write(Self.clearAndLeave) } }
        defer { Interruption.remove(duty) }
        write(hasScreen ? Self.enterClear : "\n")
        write("Your recovery key, which is shown only now:\n\n")
        let isShown = lines.withUnsafeBytes { writeAll($0, to: descriptor.number) }
        write(Self.advice)
        if isShown { _ = awaitKey(Self.hint, takesReturn: true) }
        if hasScreen { write(Self.clearAndLeave) }
        return isShown
    }

    private static let advice = """

        It is for a forgotten passcode: vauban recover sets a new one with it.
        Write it on paper and keep that apart from this machine: whoever has
        it and this disk opens everything.

        """
    private static let hint = "Press Return when it is written down; it leaves the screen then: "

    private static let enterClear = "\u{1B}[?1049h\u{1B}[2J\u{1B}[H"
    private static let clearAndLeave = "\u{1B}[2J\u{1B}[H\u{1B}[?1049l"
}
