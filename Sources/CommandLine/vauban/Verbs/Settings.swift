import ArgumentParser
import VaubanAccessPolicy
import VaubanAuthenticationClient

struct Settings: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows when the keychain locks by itself, or changes it.",
        discussion: """
            Without options it shows. A change needs the passcode. Durations are numbers with s, m, h or d behind them; \
            a bare number is seconds for --grace and minutes for --idle.

            Example:
              vauban settings
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

    @OptionGroup var person: PersonOptions

    enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

    func run() throws {
        let session = try Session(person)
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
        print(StatusText.settings(settings))
    }
}
