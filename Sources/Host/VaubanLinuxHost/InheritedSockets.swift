import Glibc

/// The listening sockets that a launcher or systemd passed (`sd_listen_fds(3)`: LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES).
package struct InheritedSockets {
    private let named: [String: Descriptor]

    /// Takes the passed sockets and calls `listen` on them again: from then on the kernel reports this process to clients as the listener,
    /// and not the launcher.
    package init() throws(ServiceError) {
        guard let count = Self.number("LISTEN_FDS"), count > 0, count <= 8, Self.number("LISTEN_PID") == Int(getpid()) else {
            throw ServiceError("this program is started by Vauban's launcher or by systemd, which pass it its sockets")
        }
        let names = Self.text("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false).map(String.init) ?? []
        var named: [String: Descriptor] = [:]
        for index in 0..<count {
            let number = Int32(3 + index)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            guard listen(number, ConnectionLimits.waitingMax) == 0 else {
                throw ServiceError(SystemError("listen on a passed socket", code: errno).description)
            }
            named[index < names.count ? names[index] : "\(index)"] = Descriptor(number)
        }
        self.named = named
    }

    package func socket(_ name: String) throws(ServiceError) -> Descriptor {
        guard let descriptor = named[name] else { throw ServiceError("the socket \"\(name)\" was not passed") }
        return descriptor
    }

    private static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
