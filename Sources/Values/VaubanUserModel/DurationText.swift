/// Durations in words, the same in prompts, in messages and on the command line.
package enum DurationText {
    private static let units: [(seconds: Int64, name: String)] = [(24 * 3600, "day"), (3600, "hour"), (60, "minute")]

    /// Returns a chosen duration in the largest unit that expresses it exactly: "5 minutes", "90 seconds".
    package static func exact(_ seconds: Int64) -> String {
        let unit = units.first { seconds > 0 && seconds % $0.seconds == 0 } ?? (1, "second")
        return counted(seconds / unit.seconds, unit.name)
    }

    /// Returns the time to wait, rounded up to whole minutes from one minute on: "59 seconds", "2 minutes".
    package static func wait(_ seconds: Int64) -> String {
        seconds < 60 ? counted(seconds, "second") : counted(seconds / 60 + (seconds % 60 > 0 ? 1 : 0), "minute")
    }

    private static func counted(_ number: Int64, _ unit: String) -> String { "\(number) \(unit)\(number == 1 ? "" : "s")" }
}
