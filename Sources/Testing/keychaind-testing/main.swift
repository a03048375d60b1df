// keychaind with a clock that a test moves; never installed.
//
// `--clock FILE` is an option in addition to the room's own, and FILE is in its state folder, since the room has access to no other. It
// contains two decimal numbers: nanoseconds to add to the clock that runs while the machine sleeps, and to the one that does not. Without
// the file nothing is added. `--without FEATURE,…` runs the room as on a machine that lacks these protections.

import Glibc
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

/// Takes an argument of this program and its value away; what is left is for the room.
func take(_ name: String, from words: inout [String]) -> String? {
    guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
}

var words = Array(CommandLine.arguments.dropFirst())
let without = (take("--without", from: &words) ?? "").split(separator: ",").map { name -> HardeningFeature in
    guard let feature = HardeningFeature(rawValue: String(name)) else { exit(64) }
    return feature
}
let sleepClock = take("--clock", from: &words).map { MovedClock(file: $0).sleepClock }
KeychainRoom.main(words, sleepClock: sleepClock ?? .ofThisMachine, without: Set(without))
