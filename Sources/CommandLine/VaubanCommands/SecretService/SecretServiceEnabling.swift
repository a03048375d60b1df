import Glibc
import VaubanRefusal

/// The files by which the session bus starts Vauban's Secret Service for one user.
struct SecretServiceEnabling {
    static let busName = "org.freedesktop.secrets"
    private static let portalName = "org.freedesktop.impl.portal.desktop.vauban"
    private static let unit = "vauban-secret-service.service"
    /// GNOME Keyring's autostart entry, which would own the bus name first.
    private static let rival = "gnome-keyring-secrets.desktop"

    private let files: UserServiceFiles

    static func current(isShared: Bool = false) throws -> SecretServiceEnabling {
        let program = try OwnProgram.path(of: "vauban")
        let config = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        let data = try UserServiceFiles.folder("XDG_DATA_HOME", ".local/share")
        var files = [
            ("\(data)/dbus-1/services/\(busName).service", activation(busName, program: program, isShared: isShared)),
            ("\(data)/dbus-1/services/\(portalName).service", activation(portalName, program: program, isShared: isShared)),
            ("\(data)/xdg-desktop-portal/portals/vauban.portal", portal),
            ("\(config)/systemd/user/\(unit)", service(program, isShared)),
        ]
        if access("/etc/xdg/autostart/\(rival)", F_OK) == 0 {
            files.append(("\(config)/autostart/\(rival)", "[Desktop Entry]\nType=Application\nName=Secret Storage Service\nHidden=true\n"))
        }
        return SecretServiceEnabling(files: UserServiceFiles(files: files, units: [unit]))
    }

    /// Returns the configuration of an enabled service.
    static func installed() throws -> SecretServiceEnabling {
        let shared = try current(isShared: true)
        return shared.files.areWritten ? shared : try current()
    }

    /// By `UseIn`, older portals find backends for a desktop; newer ones have a setting for that.
    private static let portal = """
        [portal]
        DBusName=\(portalName)
        Interfaces=org.freedesktop.impl.portal.Secret;
        UseIn=gnome;kde;sway;vauban

        """

    private static func activation(_ name: String, program: String, isShared: Bool) -> String {
        """
        [D-BUS Service]
        Name=\(name)
        Exec="\(program)" secret-service --foreground\(isShared ? " --share" : "")
        SystemdService=\(unit)

        """
    }

    private static func service(_ program: String, _ isShared: Bool) -> String {
        """
        [Unit]
        Description=Vauban's Secret Service

        [Service]
        Type=dbus
        BusName=\(busName)
        ExecStart="\(program)" secret-service --foreground\(isShared ? " --share" : "")

        """
    }

    var isEnabled: Bool { files.areWritten }

    func enable() throws {
        try files.write()
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
        guard try files.remove() else { return say("It was not enabled.") }
        say("Removed. From the next login on, programs use another Secret Service. Items that they stored in Vauban stay there.")
    }
}
