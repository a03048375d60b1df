/// When a device compacts its files, and what a run does for it. A test gives other numbers, and learns of each step.
package struct CompactionLimits: Sendable {
    /// A device compacts when it has written so many files since the last record, at least.
    package let filesMin: Int64
    /// A device says what it has read when it has read so many files of another one more than it has said.
    package let unsaidMax: Int64
    /// How many files one run removes: in etcd, each takes a request.
    package let removedMax: Int
    /// How long one run removes files, while other commands of vauban sync wait for it. Nanoseconds.
    package let removingTime: UInt64 = 10_000_000_000
    /// Called after each step.
    package let didStep: @Sendable (CompactionStep) throws -> Void

    /// How many chains a record has at most: 2 MiB of them.
    package static let chainsMax = 65_535

    package init(
        filesMin: Int64 = 256, unsaidMax: Int64 = 64, removedMax: Int = 1000,
        didStep: @escaping @Sendable (CompactionStep) throws -> Void = { _ in }
    ) {
        self.filesMin = filesMin
        self.unsaidMax = unsaidMax
        self.removedMax = removedMax
        self.didStep = didStep
    }

    @TaskLocal package static var current = CompactionLimits()
}

/// What a run of vauban sync has just done for compaction.
package enum CompactionStep: String, CaseIterable, Sendable {
    /// The plan and the marks are saved.
    case planned
    /// A file with changes that are written again is in the folder, and the state does not know of it.
    case added
    /// The state knows of it.
    case rewritten
    /// All is written again, and the state says so.
    case ended
    /// The record is in the folder, and the state does not know of it.
    case recorded
    /// The state knows of it.
    case noted
    /// A file was removed.
    case removed
}
