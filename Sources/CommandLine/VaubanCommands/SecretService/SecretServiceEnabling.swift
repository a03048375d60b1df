import Glibc
import VaubanRefusal

/// The files by which the session bus starts Vauban's Secret Service for one user.
struct SecretServiceEnabling {
    static let busName = "org.freedesktop.secrets"
    private static let portalName = "org.freedesktop.impl.portal.desktop.vauban"
    private static let unit = "vauban-secret-service.service"
    /// GNOME Keyring's autostart entry, which would own the bus name first.
    private static let rival = "gnome-keyring-secrets.desktop"
    /// KDE's autostart entry, without which the service that its login module starts never reaches the bus.
    private static let walletRival = "pam_kwallet_init.desktop"
    private static let walletNames = ["org.kde.kwalletd5", "org.kde.kwalletd6"]

    private let files: UserServiceFiles
    private let hasWallets: Bool

    /// `hasWallets` is whether KWallet's names are taken too; nil takes them where KDE's service is installed.
    static func current(isShared: Bool = false, hasWallets: Bool? = nil) throws -> SecretServiceEnabling {
        let hasWallets = hasWallets ?? isKWalletInstalled
        let program = try OwnProgram.path(of: "vauban")
        let words = " secret-service --foreground" + (isShared ? " --share" : "") + (hasWallets ? " --kwallet" : "")
        let config = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        let data = try UserServiceFiles.folder("XDG_DATA_HOME", ".local/share")
        var files = [
            ("\(data)/xdg-desktop-portal/portals/vauban.portal", portal),
            ("\(config)/systemd/user/\(unit)", service(UserSystemd.quoted(program) + words)),
        ]
        files += ([busName, portalName] + (hasWallets ? walletNames : [])).map { name in
            ("\(data)/dbus-1/services/\(name).service", activation(name, program: quoted(program) + words))
        }
        let rivals = [(rival, "Secret Storage Service")] + (hasWallets ? [(walletRival, "KWallet PAM Socket Connection")] : [])
        files += rivals.filter { access("/etc/xdg/autostart/\($0.0)", F_OK) == 0 }.map { rival, title in
            ("\(config)/autostart/\(rival)", "[Desktop Entry]\nType=Application\nName=\(title)\nHidden=true\n")
        }
        return SecretServiceEnabling(files: UserServiceFiles(files: files, units: [unit]), hasWallets: hasWallets)
    }

    /// Returns the configuration of an enabled service.
    static func installed() throws -> SecretServiceEnabling {
        for hasWallets in [true, false] {
            for isShared in [true, false] {
                let configuration = try current(isShared: isShared, hasWallets: hasWallets)
                if configuration.files.areWritten { return configuration }
            }
        }
        return try current()
    }

    /// Whether the session bus could start KDE's service.
    private static var isKWalletInstalled: Bool {
        let named = getenv("XDG_DATA_DIRS").map { String(cString: $0) } ?? ""
        let folders = (named.isEmpty ? "/usr/local/share:/usr/share" : named).split(separator: ":")
        return folders.contains { folder in
            walletNames.contains { access("\(folder)/dbus-1/services/\($0).service", F_OK) == 0 }
        }
    }

    /// By `UseIn`, older portals find backends for a desktop; newer ones have a setting for that.
    private static let portal = """
        [portal]
        DBusName=\(portalName)
        Interfaces=org.freedesktop.impl.portal.Secret;
        UseIn=gnome;kde;sway;vauban

        """

    /// A word as the bus reads it, which knows the quotes of a shell and no specifiers.
    private static func quoted(_ word: String) -> String {
        "\"\(["\\", "\"", "$", "`"].reduce(word) { $0.replacing($1, with: "\\\($1)") })\""
    }

    private static func activation(_ name: String, program: String) -> String {
        """
        [D-BUS Service]
        Name=\(name)
        Exec=\(program)
        SystemdService=\(unit)

        """
    }

    private static func service(_ program: String) -> String {
        """
        [Unit]
        Description=Vauban's Secret Service

        [Service]
        Type=dbus
        BusName=\(busName)
        ExecStart=\(program)

        """
    }

    var isEnabled: Bool { files.areWritten }
    var isEnabledForWallets: Bool { hasWallets && isEnabled }

    func enable() throws {
        try files.write()
        if hasWallets {
            say("KDE's programs will keep their wallets in Vauban, too. To bring over what KWallet has: vauban import --from kwallet")
        }
        guard let owner = try? SecretServiceOwner.current() else {
            return say("Programs that use the Secret Service will use Vauban from the next login on.")
        }
        guard owner.isVauban else {
            return say(
                """
                Programs that use the Secret Service will use Vauban from the next login on. Until then they use \(owner.words). To \
                bring its items over: vauban import --from secret-service
                """)
        }
        say("Programs that use the Secret Service now use Vauban.")
    }

    func disable() throws {
        guard try files.remove() else { return say("The Secret Service was not enabled.") }
        say("Removed. From the next login on, programs use another Secret Service. Items that they stored in Vauban stay there.")
    }
}
