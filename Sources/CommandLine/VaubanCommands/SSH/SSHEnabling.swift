import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// The files by which systemd runs the agent for one user, and by which their programs find it.
struct SSHEnabling {
    private let files: [(path: String, content: String)]
    private static let units = ["vauban-ssh-agent.socket", "vauban-ssh-agent.service"]

    static func current() throws -> SSHEnabling {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        let folder = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? "\(home)/.config"
        guard folder.hasPrefix("/") else { throw Refusal(.unavailable, "there is no home folder to write to") }
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

    func enable() throws {
        let state = files.map { ($0, Self.content(of: $0.path)) }
        for (file, found) in state where found != nil && found != file.content {
            throw Refusal(.duplicateItem, "\(file.path) is there with other content; nothing was written")
        }
        for (file, found) in state where found == nil {
            let folder = (file.path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try file.content.write(toFile: file.path, atomically: true, encoding: .utf8)
        }
        Self.tellSystemd(["enable", "--now", Self.units[0]])
        if let before = getenv("SSH_AUTH_SOCK") {
            say("Until then SSH_AUTH_SOCK is \(SafeText.visible(String(cString: before))), of another agent.")
        }
        say(
            """
            From the next login on ssh and git find Vauban's agent. In this shell: export \
            SSH_AUTH_SOCK="$XDG_RUNTIME_DIR/vauban-ssh-agent.socket"
            """
        )
    }

    func disable() throws {
        for file in files {
            if let found = Self.content(of: file.path), found != file.content {
                throw Refusal(.badParameter, "\(file.path) was changed since; nothing was removed")
            }
        }
        let there = files.filter { Self.content(of: $0.path) != nil }
        guard !there.isEmpty else { return say("It was not enabled.") }
        Self.tellSystemd(["disable", "--now"] + Self.units)
        for file in there {
            try FileManager.default.removeItem(atPath: file.path)
            // A folder that holds nothing any more goes, up to the one for all settings.
            var folder = (file.path as NSString).deletingLastPathComponent
            while (folder as NSString).lastPathComponent != ".config", rmdir(folder) == 0 {
                folder = (folder as NSString).deletingLastPathComponent
            }
        }
        say("Removed. Programs that run still have the old SSH_AUTH_SOCK; the keys are kept.")
    }

    private static func content(of path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Where no systemd runs for the user the files count from the next login on.
    private static func tellSystemd(_ words: [String]) {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), access("\(runtime)/systemd/private", F_OK) == 0 else {
            return
        }
        _ = try? ChildCommand.run(["systemctl", "--user", "daemon-reload"])
        _ = try? ChildCommand.run(["systemctl", "--user", "--quiet"] + words)
    }
}
