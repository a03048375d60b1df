import Glibc
import VaubanLinuxHost

/// The process that listens at SSH_AUTH_SOCK.
struct SSHAgentOwner {
    private static let program = "vauban-ssh-agent"
    private let path: String
    /// The process, or nil if nothing accepts connections there.
    private let process: Int32?
    private let name: String

    /// Returns nil if SSH_AUTH_SOCK is unset.
    static func current() -> SSHAgentOwner? {
        guard let path = getenv("SSH_AUTH_SOCK").map({ String(cString: $0) }), !path.isEmpty else { return nil }
        return SSHAgentOwner(path: path)
    }

    private init(path: String) {
        self.path = path
        let connection = Self.connection(to: path)
        process = connection.flatMap { try? Peer(ofConnection: $0, usePeerDescriptor: false) }?.pid
        let name = process.flatMap { SmallFile.text(path: "/proc/\($0)/comm", max: 64) } ?? ""
        self.name = SafeText.line(name, max: 16)
    }

    /// The kernel reports the process that began to listen. An agent that went to the background since is another process, with an
    /// arbitrary parent.
    private static let agents = [
        "ssh-agent", "gpg-agent", "gnome-keyring-d", "gcr-ssh-agent", "keepassxc", "vauban-ssh-agen", "systemd",
    ]

    /// A socket of systemd is Vauban's if it has the agent's name.
    var isVauban: Bool { name == String(Self.program.prefix(15)) || path.hasSuffix("/\(Self.program).socket") }

    /// Returns the agent's name, and how Vauban replaces it.
    func words(isEnabled: Bool) -> String {
        let place = "at \(SafeText.path(path, max: 200))"
        let advice = "to use Vauban's: \(isEnabled ? "" : "vauban ssh enable, then ")log out and in"
        guard let process else { return "none: nothing listens \(place); \(advice)" }
        let owner = Self.agents.contains(name) ? "\(name) (process \(process)), \(place)" : "another agent, \(place)"
        return isVauban ? owner : "\(owner); \(advice)"
    }

    /// Returns without waiting if the agent does not accept connections.
    static func connection(to path: String) -> Descriptor? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { return nil }
        let connection = Descriptor(number)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection.number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? connection : nil
    }
}
