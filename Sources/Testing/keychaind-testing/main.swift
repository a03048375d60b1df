// keychaind with a clock that a test moves; never installed.
//
// `--clock FILE` is an additional option, and FILE is in the room's state folder, since the room has access to no other. It contains two
// decimal numbers: nanoseconds to add to the clock that includes sleep, and to the one that does not. Without the file nothing is added.
// `--log-pause MILLISECONDS` is how long reads are collected before they are written to the access log.
// `--without FEATURE,…` runs the room as on a machine that lacks these protections.

import Glibc
import Keychain
import VaubanLinuxHost

/// A clock that a file moves. The file is read at every use, so that a test can change it between requests.
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

/// Removes an option of this program and returns its value; the remaining arguments are the room's.
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
let logPause = take("--log-pause", from: &words).flatMap(Int32.init) ?? KeychainLimits.logPauseMilliseconds
KeychainRoom.main(words, sleepClock: sleepClock ?? .ofThisMachine, logPauseMilliseconds: logPause, without: Set(without))
