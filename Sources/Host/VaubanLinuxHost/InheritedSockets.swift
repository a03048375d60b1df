import Glibc

/// The listening sockets that a launcher or systemd passed (`sd_listen_fds(3)`: LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES).
package struct InheritedSockets {
    private let named: [String: Descriptor]

    /// Why the sockets were not taken. Whoever started this program is to blame.
    package enum InheritanceError: Error, CustomStringConvertible, Sendable {
        case none
        case missing(String)
        case system(SystemError)

        package var description: String {
            switch self {
            case .none: "this program is started by Vauban's launcher or by systemd, which pass it its sockets"
            case .missing(let name): "the socket \"\(name)\" was not passed"
            case .system(let fault): fault.description
            }
        }
    }

    /// Takes the passed sockets and calls `listen` again: from then on the kernel names this process, not the launcher, as the one that
    /// clients connect to.
    package init() throws(InheritanceError) {
        guard let count = Self.number("LISTEN_FDS"), count > 0, count <= 8, Self.number("LISTEN_PID") == Int(getpid()) else { throw .none }
        let names = Self.text("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false).map(String.init) ?? []
        var named: [String: Descriptor] = [:]
        for index in 0..<count {
            let number = Int32(3 + index)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            guard listen(number, ConnectionLimits.waitingMax) == 0 else {
                throw .system(SystemError("listen on a passed socket", code: errno))
            }
            named[index < names.count ? names[index] : "\(index)"] = Descriptor(number)
        }
        self.named = named
    }

    package func socket(_ name: String) throws(InheritanceError) -> Descriptor {
        guard let descriptor = named[name] else { throw .missing(name) }
        return descriptor
    }

    private static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
