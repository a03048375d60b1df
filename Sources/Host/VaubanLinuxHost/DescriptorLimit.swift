import Glibc

/// How many files this process may have open, and how many connections that is enough for.
package enum DescriptorLimit {
    /// As many as a full endpoint of the enclave takes, and more.
    private static let wanted: rlim_t = 65_536
    /// What a connection has open at once: itself, its process, its line to the enclave and what it waits by.
    private static let forEach = 5
    /// What a room has open besides.
    private static let aside = 256

    /// Raises the limit as far as the hard one allows. To be called before the room shuts itself in.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let raised = min(limit.rlim_max, wanted)
        guard raised > limit.rlim_cur else { return }
        limit.rlim_cur = raised
        // What cannot be raised is shared out as it is.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// How many connections an endpoint can serve that would serve `wanted`.
    package static func connections(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        return connections(wanted, files: Int(clamping: limit.rlim_cur))
    }

    /// The same under a limit of open files.
    package static func connections(_ wanted: Int, files: Int) -> Int {
        max(min(wanted, (files - aside) / forEach), 1)
    }
}
