import Glibc

/// The limit of open files of this process, and the number of connections that it allows.
package enum DescriptorLimit {
    /// The limit to request, which exceeds what a full socket of the enclave needs.
    private static let wanted: rlim_t = 65_536
    /// The descriptors of one connection: its own, its process, its connection to the enclave, and its wake-ups.
    private static let forEach = 5
    /// The descriptors that a room reserves for everything else.
    private static let aside = 256

    /// Raises the limit as far as the hard limit allows. Must be called before hardening.
    package static func raiseWithinHardLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let raised = min(limit.rlim_max, wanted)
        guard raised > limit.rlim_cur else { return }
        limit.rlim_cur = raised
        // If this fails, the present limit applies.
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns how many connections a socket can serve, at most `wanted`.
    package static func connections(_ wanted: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        return connections(wanted, files: Int(clamping: limit.rlim_cur))
    }

    /// Returns the same for a given limit of open files.
    package static func connections(_ wanted: Int, files: Int) -> Int {
        max(min(wanted, (files - aside) / forEach), 1)
    }
}
