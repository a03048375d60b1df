// The command line for tests of compaction, never installed. VAUBAN_TEST_COMPACTION has three numbers: after how many files a device
// compacts, after how many files it reports its position, and how many files a run removes. It ends itself by SIGKILL after the step that
// VAUBAN_TEST_KILL names, such as `recorded`, or `removed 3` for the third of its kind.

import Glibc
import Synchronization
import VaubanCommands

/// Ends this process after the given number of steps of one kind.
final class Killing: Sendable {
    private let step: CompactionStep?
    private let left: Mutex<Int>

    /// - Parameter words: The name of the step, optionally followed by its number among the steps of its kind.
    init(_ words: [String]) {
        step = words.first.flatMap(CompactionStep.init(rawValue:))
        left = Mutex(words.count > 1 ? Int(words[1]) ?? 1 : 1)
    }

    func didStep(_ done: CompactionStep) {
        guard done == step else { return }
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { kill(getpid(), SIGKILL) }
    }
}

func words(_ name: String) -> [String] {
    getenv(name).map { String(cString: $0).split(separator: " ").map(String.init) } ?? []
}

let killing = Killing(words("VAUBAN_TEST_KILL"))
let numbers = words("VAUBAN_TEST_COMPACTION").compactMap { Int64($0) }
guard numbers.count == 3 else { exit(64) }
let limits = CompactionLimits(
    filesMin: numbers[0], unreportedMax: numbers[1], removedMax: Int(numbers[2]), didStep: { killing.didStep($0) })
CompactionLimits.$current.withValue(limits) { VaubanTool.run() }
