/// When a device compacts its files, and how much of that one run does. Tests set other numbers and observe each step.
package struct CompactionLimits: Sendable {
    /// A device compacts once it has written at least this many files since the last record.
    package let filesMin: Int64
    /// A device reports its position once it has read this many files of another device beyond its last report.
    package let unreportedMax: Int64
    /// The most files that one run removes, since in etcd each takes a request.
    package let removedMax: Int
    /// The longest time that one run spends removing files, since other commands of vauban sync wait for it. Nanoseconds.
    package let removingTime: UInt64 = 10_000_000_000
    /// Called after each step.
    package let didStep: @Sendable (CompactionStep) throws -> Void

    /// The most chains in a record: 2 MiB of them.
    package static let chainsMax = 65_535

    package init(
        filesMin: Int64 = 256, unreportedMax: Int64 = 64, removedMax: Int = 1000,
        didStep: @escaping @Sendable (CompactionStep) throws -> Void = { _ in }
    ) {
        self.filesMin = filesMin
        self.unreportedMax = unreportedMax
        self.removedMax = removedMax
        self.didStep = didStep
    }

    @TaskLocal package static var current = CompactionLimits()
}

/// The step of a compaction that a run of vauban sync has just completed.
package enum CompactionStep: String, CaseIterable, Sendable {
    /// The plan and the marks are saved.
    case planned
    /// A file with rewritten changes is in the folder, but not yet noted in the state.
    case added
    /// The state notes it.
    case rewritten
    /// Everything has been rewritten, and the state records that.
    case ended
    /// The record is in the folder, but not yet noted in the state.
    case recorded
    /// The state notes it.
    case noted
    /// A file was removed.
    case removed
}
