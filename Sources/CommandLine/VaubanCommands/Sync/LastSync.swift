package import Foundation
import VaubanLinuxHost

/// When this device last synchronized completely, and where its files are: the file `last-sync` beside the sync state. It contains a date
/// and the place as the user names it.
package struct LastSync: Hashable, Sendable {
    package let date: Date
    package let place: String

    package init(date: Date, place: String) {
        self.date = date
        self.place = place
    }

    /// Returns nil if there is none, or the file is damaged.
    package static func read(in folder: String) -> LastSync? {
        guard let text = SmallFile.text(path: "\(folder)/\(name)", max: 8192) else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        guard lines.count == 2, let date = try? Date(lines[0], strategy: .iso8601) else { return nil }
        return LastSync(date: date, place: lines[1].trimmingCharacters(in: .newlines))
    }

    /// Records a complete synchronization. It is complete without this record, so a failure here is not an error.
    /// - Parameter interval: How old an earlier record of the same place must be to be replaced.
    package static func record(_ place: String, in folder: String, notWithin interval: TimeInterval = 0, now: Date = Date()) {
        // A record of a later time is from before the clock was corrected.
        if let last = read(in: folder), last.place == place, last.date <= now, now.timeIntervalSince(last.date) < interval { return }
        try? BackupFiles.replace("\(folder)/\(name)", with: Array("\(now.formatted(.iso8601))\n\(place)\n".utf8))
    }

    /// What to do if it was long ago, as the rest of a sentence.
    package func advice(now: Date = Date()) -> String {
        let days = Int(exactly: (now.timeIntervalSince(date) / 86400).rounded(.down)) ?? 0
        return days >= Self.daysMax ? "; it is \(days) days old; run vauban sync to see why" : ""
    }

    package static let name = "last-sync"
    private static let daysMax = 7
}
