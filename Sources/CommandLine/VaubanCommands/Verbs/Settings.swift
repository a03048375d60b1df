import ArgumentParser
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanUserModel

struct Settings: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows when the keychain locks by itself and what it keeps of the past, or changes it.",
        discussion: """
            Without options it shows. A change of when it locks needs the passcode. With --history off no earlier values and no deleted \
            items are kept from then on; what is kept already stays until vauban history --clear --all. \
            Durations are numbers with s, m, h or d behind them; a bare number is seconds for --grace and minutes for --idle.

            Example:
              vauban settings
              vauban settings --json
              vauban settings --history off
              vauban settings --idle 15m --grace 10s --lock-with-screen on
            """)

    @Option(
        help: ArgumentHelp(
            "Keep the keys for so long after the machine sleeps or the screen is locked; 0: not at all.", valueName: "duration"),
        transform: { try TimeLength.seconds($0, unit: 1, max: LockSettings.graceSecondsMax) })
    var grace: Int64?

    @Option(
        help: ArgumentHelp("Lock after so long without any use; 0 or never: do not.", valueName: "duration"),
        transform: { $0 == "never" ? 0 : try TimeLength.seconds($0, unit: 60, max: LockSettings.idleSecondsMax) })
    var idle: Int64?

    @Option(help: ArgumentHelp("Whether the screen's lock locks the keychain too.", valueName: "on|off"))
    var lockWithScreen: Switch?

    @Option(help: ArgumentHelp("Whether the last ten values of an item and deleted items are kept.", valueName: "on|off"))
    var history: Switch?

    @Flag(help: "One JSON document, for a program.")
    var json = false

    @OptionGroup var user: UserOptions

    enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

    func run() throws {
        let session = try Session(user)
        let device = try session.authentication.status().device
        var settings = device.settings
        if let grace { settings.graceSeconds = grace }
        if let idle { settings.idleSeconds = idle }
        if let lockWithScreen { settings.locksWithScreen = lockWithScreen == .on }
        if grace != nil || idle != nil || lockWithScreen != nil {
            try Passcode.requireSet(device)
            let passcode = try Passcode.current(of: session)
            try session.authentication.configure(settings, passcode: passcode)
            say("Changed.")
        }
        let keepsHistory = try session.keychain.keepsHistory(history.map { $0 == .on })
        if history == .off {
            say("Nothing more is kept. What is kept already stays until it is destroyed: vauban history --clear --all")
        }
        if json { return print(try ItemDescription.json(SettingsDocument(settings, keepsHistory: keepsHistory))) }
        print(StatusText.settings(settings))
        print("history           \(keepsHistory ? "on: the last ten values of an item, and deleted items for thirty days" : "off")")
    }
}
