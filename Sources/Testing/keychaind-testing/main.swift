// The room of keychaind with a machine that sleeps when a test says so; it is never installed.
//
// `--clock FILE` comes besides the room's own arguments, and FILE lies in its state folder, since the room reaches no other.
// It holds two decimal numbers: nanoseconds to add to the clock that runs while the machine sleeps, and to the one that does
// not. Without the file nothing is added.

import Keychain
import VaubanLinuxHost

/// The file is read at every look at a clock, so that a test moves it from one request to the next.
struct MovedClock: Sendable {
    let file: String

    /// The file's first or second number; 0 without a file of two.
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
