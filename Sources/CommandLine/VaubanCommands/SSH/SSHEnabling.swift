import Glibc
import VaubanRefusal

/// The files by which systemd runs the agent for one user and by which programs find it.
struct SSHEnabling {
    private let files: UserServiceFiles
    /// The same files with the units of an earlier version, if one of these exists.
    private let earlier: UserServiceFiles?
    /// The installed programs that set SSH_AUTH_SOCK to another agent at login.
    private let rivals: [RivalStart]
    private static let undo = "vauban ssh disable"
    private static let units = ["vauban-ssh-agent.socket", "vauban-ssh-agent.service"]

    static func current() throws -> SSHEnabling {
        let folder = try UserServiceFiles.folder("XDG_CONFIG_HOME", ".config")
        let program = try InstalledPrograms.path(of: "vauban")
        let (socketFile, serviceFile) = ("\(folder)/systemd/user/\(units[0])", "\(folder)/systemd/user/\(units[1])")
        let variable = ("\(folder)/environment.d/60-vauban-ssh.conf", "SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/vauban-ssh-agent.socket\n")
        let rivals = [
            try RivalStart.unit("gcr-ssh-agent.service", undo: undo), try RivalStart.unit("gcr-ssh-agent.socket", undo: undo),
            try RivalStart.entry("gnome-keyring-ssh.desktop", title: "SSH Key Agent"),
        ]
        func files(isEarlierSocket: Bool, isEarlierService: Bool) -> UserServiceFiles {
            let files: [(path: String, content: String)] = [
                (socketFile, isEarlierSocket ? earlierSocket : socket), (serviceFile, service(program, isEarlier: isEarlierService)),
                variable,
            ]
            return UserServiceFiles(files: files, units: units, loginUnit: units[0])
        }
        let hasEarlierSocket = UserServiceFiles.state(of: (socketFile, earlierSocket)) == .written
        let hasEarlierService = UserServiceFiles.state(of: (serviceFile, service(program, isEarlier: true))) == .written
        let earlier = files(isEarlierSocket: hasEarlierSocket, isEarlierService: hasEarlierService)
        return SSHEnabling(
            files: files(isEarlierSocket: false, isEarlierService: false), earlier: hasEarlierSocket || hasEarlierService ? earlier : nil,
            rivals: rivals)
    }

    /// The sockets of other agents set the variable as well, and the last one counts.
    private static let socket = """
        [Unit]
        Description=Vauban's agent for SSH
        After=gcr-ssh-agent.socket gpg-agent-ssh.socket ssh-agent.socket
        Before=graphical-session-pre.target

        [Socket]
        ListenStream=%t/vauban-ssh-agent.socket
        FileDescriptorName=ssh-agent
        SocketMode=0600
        ExecStartPost=-systemctl --user set-environment SSH_AUTH_SOCK=%t/vauban-ssh-agent.socket

        [Install]
        WantedBy=sockets.target

        """

    /// The socket that earlier versions wrote, which `enable` replaces and `disable` removes.
    private static let earlierSocket = """
        [Unit]
        Description=Vauban's agent for SSH

        [Socket]
        ListenStream=%t/vauban-ssh-agent.socket
        FileDescriptorName=ssh-agent
        SocketMode=0600

        [Install]
        WantedBy=sockets.target

        """

    /// In user mode, the program starts the keychain before it becomes the agent, and the keychain outlasts the unit. With `isEarlier`, the
    /// unit that earlier versions wrote.
    private static func service(_ program: String, isEarlier: Bool) -> String {
        """
        [Unit]
        Description=Vauban's agent for SSH
        Requires=vauban-ssh-agent.socket

        [Service]
        ExecStart=\(UserSystemd.quoted(program)) ssh-agent --foreground
        \(isEarlier ? "" : "KillMode=process\n")
        """
    }

    /// The line by which sessions that systemd does not start find the agent. A forwarded agent keeps its place.
    static let profileLine = #"export SSH_AUTH_SOCK="${SSH_AUTH_SOCK:-$XDG_RUNTIME_DIR/vauban-ssh-agent.socket}""#

    var isEnabled: Bool { (earlier ?? files).areWritten }
    /// The programs that set SSH_AUTH_SOCK to another agent at the next login, for `vauban doctor`.
    var startsOthers: [String] { rivals.filter(\.starts).map(\.name) }

    func enable() throws {
        // Without a keychain, programs would lose the agent that they have.
        _ = try ServiceAccess.current()
        let started = rivals.filter(\.starts)
        if let earlier {
            try earlier.stopping(started).check()
            _ = try earlier.remove(stopsUnits: false)
        }
        try files.stopping(started).write()
        RivalStart.reportStopped(rivals, undo: Self.undo)
        if let owner = SSHAgentOwner.current(), !owner.isVauban, let before = getenv("SSH_AUTH_SOCK") {
            say("Until then SSH_AUTH_SOCK names another agent: \(SafeText.visible(String(cString: before)))")
        }
        let more =
            UserSystemd.isRunning
            ? "For this shell: export SSH_AUTH_SOCK=\"$XDG_RUNTIME_DIR/vauban-ssh-agent.socket\""
            : "No systemd runs for you here; if none does after a login either, start the agent yourself: "
                + "vauban ssh-agent --foreground --socket PATH, and set SSH_AUTH_SOCK to PATH"
        say("From the next login to a desktop, ssh and git use Vauban's agent. \(more)")
        if UserSystemd.isRunning { say("For logins on a console or over SSH, add to ~/.profile: \(Self.profileLine)") }
    }

    func disable() throws {
        let stopped = RivalStart.stoppedHere(of: rivals)
        guard try (earlier ?? files).releasing(rivals).remove() else { return say("The agent was not enabled.") }
        if let stopped { say("From the next login on these start again: \(stopped).") }
        say("Removed. The keys stay; running programs keep the old SSH_AUTH_SOCK.")
    }
}
