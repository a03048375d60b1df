import ArgumentParser
import VaubanUserModel

/// Durations as users type them.
package enum DurationArgument {
    /// Parses "10s", "15m" or "15min", "2h", "1d", or a bare number of `unit` seconds.
    package static func seconds(_ text: String, unit: Int64, max: Int64) throws -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 24 * 3600]
        let short = text.hasSuffix("min") ? String(text.dropLast(2)) : text
        let named = short.last.flatMap { units[$0] }
        guard let number = Int64(named == nil ? short : String(short.dropLast())), number >= 0 else {
            throw ValidationError("“\(text)” is not a duration; use for example 10s, 15m, 2h or 1d")
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: named ?? unit)
        guard !overflow, seconds <= max else { throw ValidationError("“\(text)” is too long; the maximum is \(DurationText.exact(max))") }
        return seconds
    }
}
