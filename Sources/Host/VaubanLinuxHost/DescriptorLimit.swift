import Glibc

/// The number of files that this process may have open, and of connections that it suffices for.
package enum DescriptorLimit {
    /// The limit to request: as many as a full socket of the enclave takes, and more.
    private static let wanted: rlim_t = 65_536
    /// The descriptors of one connection: itself, its process, its connection to the enclave and what it waits on.
    private static let forEach = 5
    /// The descriptors that a room uses for everything else.
    private static let aside = 256

    /// Raises the limit as far as the hard limit allows. Must be called before hardening.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let raised = min(limit.rlim_max, wanted)
        guard raised > limit.rlim_cur else { return }
        limit.rlim_cur = raised
        // If this fails, the present limit is shared out.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns how many connections a socket can serve that would serve `wanted`.
    package static func connections(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        return connections(wanted, files: Int(clamping: limit.rlim_cur))
    }

    /// Returns the same under a limit of open files.
    package static func connections(_ wanted: Int, files: Int) -> Int {
        max(min(wanted, (files - aside) / forEach), 1)
    }
}
