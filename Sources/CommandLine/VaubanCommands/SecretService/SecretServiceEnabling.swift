import Glibc
import VaubanRefusal

/// The files by which the session bus starts Vauban's Secret Service for one user.
struct SecretServiceEnabling {
    static let busName = "org.freedesktop.secrets"
    private static let portalName = "org.freedesktop.impl.portal.desktop.vauban"
    private static let unit = "vauban-secret-service.service"
    /// The target of the user's systemd that a desktop session reaches before its first program starts.
    private static let login = "graphical-session-pre.target"
    private static let undo = "vauban disable secret-service"
    private static let walletNames = ["org.kde.kwalletd5", "org.kde.kwalletd6"]

    /// The files that start Vauban's service.
    private let files: UserServiceFiles
    /// The installed units and entries that start other providers at login.
    private let rivals: [RivalStart]
    let hasWallets: Bool
    /// The program that the files start.
    let program: String

    /// `hasWallets` is whether KWallet's names are taken too; nil takes them where KDE's service is installed.
    static func current(isShared: Bool = false, hasWallets: Bool? = nil) throws -> SecretServiceEnabling {
        try SecretServiceEnabling(
            program: try InstalledPrograms.path(of: "vauban"), isShared: isShared, hasWallets: hasWallets ?? isKWalletInstalled)
    }

    /// With `isEarlier`, the files that earlier versions wrote.
    private init(program: String, isShared: Bool, hasWallets: Bool, isEarlier: Bool = false) throws {
        self.program = program
        self.hasWallets = hasWallets
        let words = ServiceActivation.verb + (isShared ? " --share" : "") + (hasWallets ? " --kwallet" : "")
        let config = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        let data = try UserServiceFiles.folder("XDG_DATA_HOME", ".local/share")
        var files = [
            ("\(data)/xdg-desktop-portal/portals/vauban.portal", Self.portal),
            ("\(config)/systemd/user/\(Self.unit)", Self.service(UserSystemd.quoted(program) + words, isEarlier: isEarlier)),
        ]
        let names = [Self.busName, Self.portalName] + (hasWallets ? Self.walletNames : [])
        files += try names.map { name in
            (try ServiceActivation.path(of: name), Self.activation(name, program: ServiceActivation.quoted(program) + words))
        }
        // The bus also starts other providers for their other services, such as portals; the first one to own the name keeps it.
        let link = ("\(config)/systemd/user/\(Self.login).wants/\(Self.unit)", "../\(Self.unit)")
        self.files = UserServiceFiles(files: files, links: [link], units: [Self.unit])
        rivals = try Self.rivals(hasWallets: hasWallets)
    }

    /// The providers that would own the names first: GNOME Keyring and oo7, whose units a distribution enables for all users, and KDE's
    /// part of the login, without which the service that its login module starts never reaches the bus.
    private static func rivals(hasWallets: Bool) throws -> [RivalStart] {
        var units = ["gnome-keyring-daemon.service", "gnome-keyring-daemon.socket", "oo7-daemon.service"]
        var entries = [("gnome-keyring-secrets.desktop", "Secret Storage Service")]
        if hasWallets {
            units.append("plasma-kwallet-pam.service")
            entries.append(("pam_kwallet_init.desktop", "KWallet PAM Socket Connection"))
        }
        return try units.map { try RivalStart.unit($0, undo: undo) } + entries.map { try RivalStart.entry($0.0, title: $0.1) }
    }

    /// Returns the configuration of an enabled service, including one that another installation of Vauban enabled and of which some files
    /// are missing. Returns nil if there is none.
    static func installed() throws -> SecretServiceEnabling? {
        let all = try candidates()
        return all.first(where: \.isEnabled) ?? all.first(where: \.files.areInPlace)
    }

    /// Returns the configurations that may be enabled.
    private static func candidates() throws -> [SecretServiceEnabling] {
        var programs = [try InstalledPrograms.path(of: "vauban")]
        if case .vauban(let program) = try ServiceActivation(of: busName), !programs.contains(program) { programs.append(program) }
        let options = [(true, true), (true, false), (false, true), (false, false)]
        return try programs.flatMap { program in
            try options.flatMap { option in
                try [false, true].map { isEarlier in
                    try SecretServiceEnabling(program: program, isShared: option.0, hasWallets: option.1, isEarlier: isEarlier)
                }
            }
        }
    }

    /// Whether the session bus could start KDE's service.
    private static var isKWalletInstalled: Bool {
        let named = getenv("XDG_DATA_DIRS").map { String(cString: $0) } ?? ""
        let folders = (named.isEmpty ? "/usr/local/share:/usr/share" : named).split(separator: ":")
        return folders.contains { folder in
            walletNames.contains { access("\(folder)/dbus-1/services/\($0).service", F_OK) == 0 }
        }
    }

    /// Older portals find the backends for a desktop by `UseIn`; newer ones have a setting for that.
    private static let portal = """
        [portal]
        DBusName=\(portalName)
        Interfaces=org.freedesktop.impl.portal.Secret;
        UseIn=gnome;kde;sway;vauban

        """

    /// Why the enabled service does not start, for `vauban doctor`; nil if nothing prevents it.
    var fault: String? {
        access(program, X_OK) == 0
            ? nil : "programs find none, since \(SafeText.path(program, max: 200)) is gone; run vauban enable or disable secret-service"
    }

    private static func activation(_ name: String, program: String) -> String {
        """
        [D-BUS Service]
        Name=\(name)
        Exec=\(program)
        SystemdService=\(unit)

        """
    }

    /// In user mode, the program starts the keychain before it becomes the service, and the keychain outlasts the unit.
    private static func service(_ program: String, isEarlier: Bool) -> String {
        """
        [Unit]
        Description=Vauban's Secret Service

        [Service]
        Type=dbus
        BusName=\(busName)
        ExecStart=\(program)
        \(isEarlier ? "" : "KillMode=process\n")
        """
    }

    var isEnabled: Bool { files.areWritten }
    var isEnabledForWallets: Bool { hasWallets && isEnabled }
    /// The providers that start instead at the next login, for `vauban doctor`.
    var startsOthers: [String] { rivals.filter(\.starts).map(\.name) }

    /// Throws if a file exists that is not Vauban's, and would have to be changed.
    func check() throws {
        // The files of an enabled service are replaced. Files with other options, or of another program, may exist as well.
        let replaced = Set(try Self.installed()?.files.files.map { $0.path } ?? [])
        try UserServiceFiles(files: files.files.filter { !replaced.contains($0.path) }, links: files.links, units: [])
            .stopping(rivals.filter(\.starts)).check()
    }

    /// Writes the files, in place of those with other options or of another installation.
    func enable(_ move: ProviderMove.Outcome = .nothing) throws {
        try check()
        let earlier = try Self.installed().flatMap { installed in
            installed.files.files.elementsEqual(files.files, by: ==) ? nil : installed.files.releasing(installed.rivals)
        }
        _ = try earlier?.remove(stopsUnits: false)
        do {
            try files.stopping(rivals.filter(\.starts)).write()
        } catch {
            do { try earlier?.write() } catch {
                say("The files of the service that was enabled could not be put back: \(SafeText.line("\(error)", max: 300)).")
            }
            throw error
        }
        report(move)
    }

    private func report(_ move: ProviderMove.Outcome) {
        let isMoved = move != .nothing
        RivalStart.reportStopped(rivals, undo: Self.undo)
        if hasWallets {
            let more = isMoved ? "" : " To bring over what KWallet has: vauban import --from kwallet"
            say("KDE's programs will keep their wallets in Vauban, too.\(more)")
        }
        if move == .part {
            say(
                "Some items were not brought over, as reported above. To try again before you log out, run this again.")
        }
        guard let owner = try? SecretServiceOwner.current() else {
            return say("Programs that use the Secret Service will use Vauban from the next login on.")
        }
        guard owner.isVauban else {
            let more = isMoved ? "" : " To bring its items over: vauban import --from secret-service"
            return say(
                "Programs that use the Secret Service will use Vauban from the next login on. Until then they use \(owner.words).\(more)")
        }
        say("Programs that use the Secret Service now use Vauban.")
    }

    /// Removes the files of an enabled service, whatever its options and program.
    static func disable() throws {
        guard let installed = try installed() else {
            switch try ServiceActivation(of: busName) {
            case .missing: say("The Secret Service was not enabled.")
            case .other(let path):
                say("The Secret Service was not enabled. \(SafeText.path(path, max: 200)) is another program's, and stays.")
            // These are Vauban's own, and the user changed some: this names the first one.
            case .vauban: _ = try candidates().max { $0.files.writtenCount < $1.files.writtenCount }?.files.remove()
            }
            return
        }
        let stopped = RivalStart.stoppedHere(of: installed.rivals)
        _ = try installed.files.releasing(installed.rivals).remove()
        if let stopped { say("From the next login on these start again: \(stopped).") }
        if let owner = try? SecretServiceOwner.current(), !owner.isVauban {
            return say("Removed. Programs use \(owner.words) now. Items that they stored in Vauban stay there.")
        }
        say("Removed. From the next login on, programs use another Secret Service. Items that they stored in Vauban stay there.")
    }
}
