import Glibc
import VaubanRefusal

/// The files by which systemd runs the agent for one user and by which programs find it.
struct SSHEnabling {
    private let files: UserServiceFiles
    private static let units = ["vauban-ssh-agent.socket", "vauban-ssh-agent.service"]

    static func current() throws -> SSHEnabling {
        let folder = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        let program = try OwnProgram.path(of: "vauban")
        let files = [
            ("\(folder)/systemd/user/\(units[0])", socket), ("\(folder)/systemd/user/\(units[1])", service(program)),
            ("\(folder)/environment.d/60-vauban-ssh.conf", "SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/vauban-ssh-agent.socket\n"),
        ]
        return SSHEnabling(files: UserServiceFiles(files: files, units: units, loginUnit: units[0]))
    }

    private static let socket = """
        [Unit]
        Description=Vauban's agent for SSH

        [Socket]
        ListenStream=%t/vauban-ssh-agent.socket
        FileDescriptorName=ssh-agent
        SocketMode=0600

        [Install]
        WantedBy=sockets.target

        """

    private static func service(_ program: String) -> String {
        """
        [Unit]
        Description=Vauban's agent for SSH
        Requires=vauban-ssh-agent.socket

        [Service]
        ExecStart=\(UserSystemd.quoted(program)) ssh-agent --foreground

        """
    }

    var isEnabled: Bool { files.areWritten }

    func enable() throws {
        try files.write()
        if let before = getenv("SSH_AUTH_SOCK") {
            say("Until then SSH_AUTH_SOCK names another agent: \(SafeText.visible(String(cString: before)))")
        }
        say(
            """
            From the next login, ssh and git use Vauban's agent. For this shell: export \
            SSH_AUTH_SOCK="$XDG_RUNTIME_DIR/vauban-ssh-agent.socket"
            """
        )
    }

    func disable() throws {
        guard try files.remove() else { return say("The agent was not enabled.") }
        say("Removed. The keys stay; running programs keep the old SSH_AUTH_SOCK.")
    }
}
