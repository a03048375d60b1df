/// The limits of the witness. Times in milliseconds where they are given to poll, otherwise in nanoseconds.
enum WitnessLimits {
    /// An executable that is larger is not told: reading it would take longer than anyone waits.
    static let executableBytesMax: Int64 = 256 << 20
    static let chunkBytes = 64 << 10
    /// The longest path of a program that has an identity, in bytes; that of a link of the chain.
    static let namedPathBytesMax = 1024
    static let unitBytesMax = 256
    /// `status` and `cgroup` of a process.
    static let statusBytesMax = 64 << 10
    /// `maps` of a process, and how many files it may execute code of.
    static let mapsBytesMax = 4 << 20
    static let mappedFilesMax = 4096
    /// `mountinfo` of a process.
    static let mountsBytesMax = 1 << 20
    /// Digests that are remembered, and how long ago a file must have changed last for that.
    static let digestsMax = 256
    static let settledSeconds = 2
    /// Interpreters of one folder.
    static let interpretersMax = 1024
    /// Debian's list of the files of one package, and how many answers about packages are remembered.
    static let packageListBytesMax = 8 << 20
    static let packagesMax = 256
    /// Parents that are looked at behind Vauban's command line.
    static let parentsMax = 15
    /// Questions that are worked on at once, of these about one user's programs, and how many more of the latter may wait.
    static let workersMax = 64
    static let workersPerUserMax = 4
    static let waitingPerUserMax = 256
    /// How long the enclave waits for an answer: a question that is older is not worked on any more.
    static let questionTime: UInt64 = 3_000_000_000
}
