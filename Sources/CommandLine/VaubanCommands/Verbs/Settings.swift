import ArgumentParser
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanUserModel

struct Settings: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change when the keychain locks and what history it keeps.",
        discussion: """
            Without options, shows the settings. Changing when it locks needs your passcode. The history of one owner has at most 16 MiB; \
            beyond that the oldest secrets and deleted items are removed. With --history off, earlier secrets and deleted items are no \
            longer kept; existing ones stay until vauban history --clear --all. Durations are numbers followed by s, m, h or d; a bare \
            number means seconds for --grace and minutes for --idle.

            Example:
              vauban settings
              vauban settings --json
              vauban settings --history off
              vauban settings --idle 15m --grace 10s --lock-with-screen on
            """)

    @Option(
        help: ArgumentHelp(
            "Keep the keys for this time after sleep or the screen lock; 0 locks at once.", valueName: "duration"),
        transform: { try DurationArgument.seconds($0, unit: 1, max: LockSettings.graceSecondsMax) })
    var grace: Int64?

    @Option(
        help: ArgumentHelp("Lock after this time without use; 0 or never disables it.", valueName: "duration"),
        transform: { $0 == "never" ? 0 : try DurationArgument.seconds($0, unit: 60, max: LockSettings.idleSecondsMax) })
    var idle: Int64?

    @Option(help: ArgumentHelp("Lock the keychain with the screen.", valueName: "on|off"))
    var lockWithScreen: Switch?

    @Option(help: ArgumentHelp("Keep the last ten secrets of each item, and deleted items for thirty days.", valueName: "on|off"))
    var history: Switch?

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var user: UserOptions

    enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

    func run() throws {
        let client = try ServiceClient(user)
        let device = try client.authentication.status().device
        var settings = device.settings
        if let grace { settings.graceSeconds = grace }
        if let idle { settings.idleSeconds = idle }
        if let lockWithScreen { settings.locksWithScreen = lockWithScreen == .on }
        if grace != nil || idle != nil || lockWithScreen != nil {
            try Passcode.requireSet(device)
            let passcode = try Passcode.current(of: client)
            try client.authentication.configure(settings, passcode: passcode)
            say("Changed.")
        }
        let keepsHistory = try client.keychain.keepsHistory(history.map { $0 == .on })
        if history == .off {
            say("History is no longer kept. To destroy what is already kept: vauban history --clear --all")
        }
        if json { return print(try ItemDescription.json(SettingsDocument(settings, keepsHistory: keepsHistory))) }
        print(StatusText.settings(settings))
        let kept = "on, keeps the last ten secrets of each item, and deleted items for thirty days"
        print("history           \(keepsHistory ? kept : "off")")
    }
}
