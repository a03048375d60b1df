import Foundation
import Synchronization
import VaubanLinuxHost

/// A recorder that writes steps to a file, one per line, with small numbers in place of names such as `n:3f.a0`.
final class TraceRecorder: Sendable {
    private let numbers = Mutex<[Substring: [Substring: Int]]>([:])
    private let file: Descriptor

    init?(path: String) {
        let number = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard number >= 0 else { return nil }
        file = Descriptor(number)
    }

    func record(_ step: String) {
        // Holds the lock until the end, so that the lines are in the order of the steps.
        numbers.withLock { numbers in
            let words = step.split(separator: " ").map { word -> String in
                let parts = word.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return String(word) }
                let known = numbers[parts[0], default: [:]]
                let number = known[parts[1]] ?? known.count + 1
                numbers[parts[0], default: [:]][parts[1]] = number
                return "\(number)"
            }
            let line = Array((words.joined(separator: " ") + "\n").utf8)
            _ = write(file.number, line, line.count)
        }
    }
}
