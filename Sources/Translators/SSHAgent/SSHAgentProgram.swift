import Glibc
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomHardening

/// The program vauban-ssh-agent: `--socket PATH`, or started by systemd with the socket. `vauban ssh-agent` starts it.
package enum SSHAgentProgram {
    package static func main() -> Never {
        do {
            let hardening = try RoomHardening(.sshAgent)
            let words = Array(CommandLine.arguments.dropFirst())
            let place: AgentSocket
            switch words.count {
            case 0: place = try AgentSocket.inherited()
            case 2 where words[0] == "--socket": place = try AgentSocket.bound(to: words[1])
            default:
                tell("usage: vauban-ssh-agent [--socket PATH]")
                exit(64)
            }
            let service = try Service.current()
            let hosts = HostNames(path: HostNames.ownFile)
            // From here on it opens only sockets and the files in the room's profile.
            for sentence in try hardening.confine(alsoReads: hosts.path.map { [$0] } ?? []) { tell(sentence) }
            signal(SIGPIPE, SIG_IGN)
            try AgentListener(socket: place, keys: AgentKeys(service), hosts: hosts).run()
        } catch let refusal as Refusal {
            tell(refusal.message)
            exit(53)
        } catch {
            tell("\(error)")
            exit(53)
        }
    }
}

/// Prints a sentence to standard error.
func tell(_ sentence: String) {
    let line = "vauban-ssh-agent: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}
