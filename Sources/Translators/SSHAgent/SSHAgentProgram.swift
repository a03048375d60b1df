import Glibc
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanRoomHardening

/// The program vauban-ssh-agent. `vauban ssh-agent` starts it with `--socket PATH`, or systemd with the socket itself; `AgentOptions`
/// parses the further options.
package enum SSHAgentProgram {
    package static func main() -> Never {
        do {
            let hardening = try RoomHardening(.sshAgent)
            guard let options = AgentOptions(Array(CommandLine.arguments.dropFirst())) else {
                printToStandardError(AgentOptions.usage)
                exit(64)
            }
            let place = if let path = options.socket { try AgentSocket.bound(to: path) } else { try AgentSocket.inherited() }
            // For a user who starts the agent by hand, and not for systemd's log.
            let isOnTerminal = isatty(STDERR_FILENO) == 1
            let service = try Service.current()
            let hosts = HostNames(paths: HostNames.usualFiles)
            // From here on the process opens only sockets and the files of its profile.
            for sentence in try hardening.confine(alsoReads: hosts.paths) { printToStandardError(sentence) }
            signal(SIGPIPE, SIG_IGN)
            let keys = try AgentKeys(service, KeyFilter(names: options.keys))
            if isOnTerminal, let path = options.socket {
                printToStandardError("Listening until Ctrl-C. To use it from another shell: export SSH_AUTH_SOCK='\(path)'")
            }
            let listener = try AgentListener(
                socket: place, keys: keys, hosts: hosts, upstream: options.upstream, isStartedOnDemand: options.socket == nil)
            listener.run()
        } catch let refusal as Refusal {
            printToStandardError(refusal.message)
            exit(53)
        } catch {
            printToStandardError((error as? SystemError)?.sentence ?? "\(error)")
            exit(53)
        }
    }
}

/// Prints a sentence to standard error.
func printToStandardError(_ sentence: String) {
    let line = "vauban-ssh-agent: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}
