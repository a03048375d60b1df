/// The limits of the witness. Times in milliseconds where they are given to poll, otherwise in nanoseconds.
enum WitnessLimits {
    /// An executable that is larger is not told: reading it would take longer than anyone waits.
    static let executableBytesMax: Int64 = 256 << 20
    static let chunkBytes = 64 << 10
    /// The wire's bound for a path, in bytes.
    static let pathBytesMax = 4096
    /// Pauses before the line to the enclave is opened again, doubled each time up to the longest.
    static let reconnectPauseMin: Int32 = 20
    static let reconnectPauseMax: Int32 = 2_000
    /// A line that lived this long was a good one, so the next pause is the shortest again.
    static let goodLine: UInt64 = 1_000_000_000
}
