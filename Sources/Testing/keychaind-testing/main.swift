// keychaind with a clock that a test moves; never installed.
//
// `--clock FILE` is an option in addition to the room's own, and FILE is in its state folder, since the room has access to no other. It
// contains two decimal numbers: nanoseconds to add to the clock that runs while the machine sleeps, and to the one that does not. Without
// the file nothing is added.

import Keychain
import VaubanLinuxHost

/// The file is read at every use of a clock, so that a test can change it between requests.
struct MovedClock: Sendable {
    let file: String

    /// Returns the file's first or second number; 0 without a file of two numbers.
    func offset(_ place: Int) -> UInt64 {
        let numbers = SmallFile.text(path: file, max: 256)?.split(whereSeparator: { $0 == " " || $0 == "\n" }) ?? []
        return numbers.count == 2 ? UInt64(numbers[place]) ?? 0 : 0
    }

    var sleepClock: SleepClock {
        SleepClock(boot: { MachineClock.boot &+ offset(0) }, monotonic: { MachineClock.monotonic &+ offset(1) })
    }
}

var words = Array(CommandLine.arguments.dropFirst())
guard let index = words.firstIndex(of: "--clock"), index + 1 < words.count else { KeychainRoom.main(words) }
let clock = MovedClock(file: words[index + 1])
words.removeSubrange(index...index + 1)
KeychainRoom.main(words, sleepClock: clock.sleepClock)
