// Shows a recovery key on the terminal once. Its digits go from zeroing memory to the terminal without becoming a `String`.

import VaubanLinuxHost
import VaubanPasscode
import VaubanSecretBytes

/// What a recovery key is for, as shown to the user.
enum RecoveryKeyPurpose {
    /// Sets a new passcode on this device.
    case passcode
    /// Lets a new device join the circle.
    case circle

    /// The text where the key cannot be shown.
    var notShown: String {
        switch self {
        case .passcode:
            "vauban: A recovery key is set, but it could not be shown; to create another: vauban passcode recovery-key"
        case .circle: "vauban: The recovery key could not be shown; to make another: vauban sync recovery --make"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .passcode:
            """

            If you forget your passcode, vauban recover sets a new one with it.
            Write it on paper and keep it apart from this machine: anyone who has
            it and this disk can read everything. An earlier recovery key works
            until you press Return.

            """
        case .circle:
            """

            If you lose your devices, vauban sync join --recovery-key lets a new
            one join your circle with it, once. Write it on paper and keep it
            apart from the folder: anyone who has both can read what you share.
            If this command is interrupted before it says that the key works,
            keep an earlier one too, and make another.

            """
        }
    }
}

extension Terminal {
    /// Shows the key, calls `whenShown`, and waits until the user presses Return or cancels. Returns whether the key was shown, and whether
    /// the user pressed Return. Uses the terminal's alternate screen if it has one, so that the key does not stay in the scrollback.
    func show(
        _ key: borrowing RecoveryKey, of purpose: RecoveryKeyPurpose, whenShown: () -> Void = {}
    ) -> (isShown: Bool, isConfirmed: Bool) {
        let hasScreen = Self.hasAlternateScreen
        let lines = key.written(groupsPerLine: RecoveryKey.groups / 2, indent: 4)
        // A caller may have set the terminal to raw mode, in which a line feed does not return to the left margin.
        let mode = TerminalMode(self, dropsInput: true) { $0.readSecretly() }
        defer { withExtendedLifetime(mode) {} }
        // Clears the key from the screen even if a signal ends this process.
        let duty = Interruption.add { [self] in if hasScreen { write(Self.clearAndLeave) } }
        defer { Interruption.remove(duty) }
        write(hasScreen ? Self.enterClear : "\n")
        write("Your recovery key, shown only once:\n\n")
        let isShown = lines.withUnsafeBytes { writeAll($0, to: descriptor.number) }
        write(purpose.advice)
        if isShown { whenShown() }
        let isConfirmed = isShown && awaitKey(Self.hint, takesReturn: true) == .enter
        if hasScreen { write(Self.clearAndLeave) }
        return (isShown, isConfirmed)
    }

    private static let hint = "Press Return when you have written it down, to clear the screen: "

    private static let enterClear = "\u{1B}[?1049h\u{1B}[2J\u{1B}[H"
    private static let clearAndLeave = "\u{1B}[2J\u{1B}[H\u{1B}[?1049l"
}
