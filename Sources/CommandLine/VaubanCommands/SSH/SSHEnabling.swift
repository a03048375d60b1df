import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// The files by which systemd runs the agent for one user and by which programs find it.
struct SSHEnabling {
    private let files: [(path: String, content: String)]
    private static let units = ["vauban-ssh-agent.socket", "vauban-ssh-agent.service"]

    static func current() throws -> SSHEnabling {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let folder = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? "\(home)/.config"
        guard folder.hasPrefix("/") else { throw Refusal(.unavailable, "no home folder: HOME and XDG_CONFIG_HOME are unset") }
        let program = try OwnProgram.path(of: "vauban")
        return SSHEnabling(files: [
            ("\(folder)/systemd/user/\(units[0])", socket), ("\(folder)/systemd/user/\(units[1])", service(program)),
            ("\(folder)/environment.d/60-vauban-ssh.conf", "SSH_AUTH_SOCK=${XDG_RUNTIME_DIR}/vauban-ssh-agent.socket\n"),
        ])
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
        ExecStart="\(program)" ssh-agent --foreground

        """
    }

    var isEnabled: Bool { files.allSatisfy { Self.content(of: $0.path) == $0.content } }

    func enable() throws {
        let state = files.map { ($0, Self.content(of: $0.path)) }
        for (file, found) in state where found != nil && found != file.content {
            throw Refusal(.duplicateItem, "\(file.path) already exists with other content; nothing was written")
        }
        for (file, found) in state where found == nil {
            let folder = (file.path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try file.content.write(toFile: file.path, atomically: true, encoding: .utf8)
        }
        Self.tellSystemd(["enable", "--now", Self.units[0]])
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
        for file in files {
            if let found = Self.content(of: file.path), found != file.content {
                throw Refusal(.badParameter, "\(file.path) has been changed; nothing was removed")
            }
        }
        let there = files.filter { Self.content(of: $0.path) != nil }
        guard !there.isEmpty else { return say("The agent was not enabled.") }
        Self.tellSystemd(["disable", "--now"] + Self.units)
        for file in there {
            try FileManager.default.removeItem(atPath: file.path)
            // Removes folders that are now empty, up to the folder of all configuration.
            var folder = (file.path as NSString).deletingLastPathComponent
            while (folder as NSString).lastPathComponent != ".config", rmdir(folder) == 0 {
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
        say("Removed. The keys stay; running programs keep the old SSH_AUTH_SOCK.")
    }

    private static func content(of path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Runs systemctl for the user. Without a systemd user manager, the files take effect at the next login.
    private static func tellSystemd(_ words: [String]) {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), access("\(runtime)/systemd/private", F_OK) == 0 else {
            return
        }
        _ = try? ChildCommand.run(["systemctl", "--user", "daemon-reload"])
        _ = try? ChildCommand.run(["systemctl", "--user", "--quiet"] + words)
    }
}
