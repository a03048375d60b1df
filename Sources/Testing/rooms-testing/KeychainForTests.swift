import Keychain
import VaubanLinuxHost

/// keychaind with a clock that a test moves.
///
/// `--clock FILE` is an additional option, and FILE is in the room's state folder, since the room has access to no other.
/// `--log-pause MILLISECONDS` is how long reads are collected before they are written to the access log.
/// `--without FEATURE,…` runs the room as on a machine that lacks these protections.
enum KeychainForTests {
    static func main(_ arguments: RoomArguments) -> Never {
        var arguments = arguments
        let without = arguments.takeMissingFeatures()
        let clock = arguments.take("--clock").map { MovedClock(file: $0).sleepClock }
        var logPause = KeychainLimits.logPauseMilliseconds
        if let given = arguments.take("--log-pause") {
            guard let number = Int32(given) else { fail("--log-pause \(given) is no number of milliseconds") }
            logPause = number
        }
        KeychainRoom.main(arguments.words, sleepClock: clock ?? .ofThisMachine, logPauseMilliseconds: logPause, without: without)
    }
}

/// A clock that a file moves: two decimal numbers, nanoseconds to add to the clock that includes sleep and to the one that does not.
/// Without the file nothing is added. The file is read at every use, so that a test can change it between requests.
private struct MovedClock: Sendable {
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
