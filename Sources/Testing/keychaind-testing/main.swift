// The room of keychaind with a machine that sleeps when a test says so; it is never installed.
//
// `--clock FILE` comes before the room's own arguments. The file holds two decimal numbers: nanoseconds to add to the clock
// that runs while the machine sleeps, and to the one that does not. Without the file nothing is added.

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

let words = Array(CommandLine.arguments.dropFirst())
if words.count >= 2, words[0] == "--clock" {
    KeychainRoom.main(Array(words.dropFirst(2)), sleepClock: MovedClock(file: words[1]).sleepClock)
} else {
    KeychainRoom.main(words)
}
