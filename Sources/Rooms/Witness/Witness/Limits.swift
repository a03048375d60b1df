/// The limits of the witness. Times in milliseconds if poll takes them, otherwise in nanoseconds.
enum WitnessLimits {
    /// The longest path of a program that has an identity, in bytes, and of a link in the chain.
    static let namedPathBytesMax = 1024
    static let unitBytesMax = 256
    /// `status` and `cgroup` of a process.
    static let statusBytesMax = 64 << 10
    /// Threads of a process that are looked at for tracers.
    static let threadsMax = 4096
    /// `maps` of a process, and the files whose code it may execute.
    static let mapsBytesMax = 4 << 20
    /// `smaps` of a process, which has some 25 lines for each mapping.
    static let smapsBytesMax = 32 << 20
    static let mappedFilesMax = 4096
    /// `mountinfo` of a process.
    static let mountsBytesMax = 1 << 20
    /// Cached digests, and how long ago a file must have changed last to be cached.
    static let digestsMax = 256
    static let stableSeconds = 2
    /// Interpreters in one folder.
    static let interpretersMax = 1024
    /// dpkg's list of one package's files, and the cached results about packages.
    static let packageListBytesMax = 8 << 20
    static let packagesMax = 256
    /// Ancestors that are inspected behind Vauban's command line.
    static let parentsMax = 15
    /// Requests served at once, those of them about one user's programs, and how many more of the latter may wait.
    static let workersMax = 64
    static let workersPerUserMax = 4
    static let waitingPerUserMax = 256
    /// How long the enclave waits for a reply: older requests are not started.
    static let requestTimeout: UInt64 = 3_000_000_000
}
