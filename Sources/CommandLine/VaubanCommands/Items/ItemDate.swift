package import Foundation

// Dates of items, files and certificates. Another program may have chosen them, so every number becomes a date, and every date a text.

extension Date {
    /// The years 1 to 9999, in seconds since 2001. Calendars, and whoever reads a date as text, may not know others.
    private static let shown = -63_113_904_000.0...252_423_993_599.0

    /// Converts the keychain's form of a date: microseconds since 2001. A date before or after the years 1 to 9999 becomes their first or
    /// last second.
    package init(microseconds: Int64) {
        let seconds = Double(microseconds) / 1_000_000
        self.init(timeIntervalSinceReferenceDate: min(max(seconds, Self.shown.lowerBound), Self.shown.upperBound))
    }

    /// The keychain's form of the date; nil if it has none.
    package var microseconds: Int64? { Int64(exactly: (timeIntervalSinceReferenceDate * 1_000_000).rounded()) }

    /// Returns the local day and time so many seconds after the beginning of 1970.
    package static func text(secondsSince1970 seconds: UInt64) -> String {
        let date = Date(timeIntervalSince1970: Double(seconds))
        return date.timeIntervalSinceReferenceDate <= shown.upperBound ? StatusText.time(date) : "after the year 9999"
    }
}
