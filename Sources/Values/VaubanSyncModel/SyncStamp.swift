/// When a change was made, by a hybrid logical clock: the writer's clock, moved past the change that the writer knew of the same item. A
/// later change of an item therefore has a later stamp, whatever the clocks of the devices show.
package struct SyncStamp: Hashable, Sendable, Comparable {
    /// Times beyond these, some 36,000 years away, are refused in files, so that there is always a later one.
    package static let times: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    /// How far a change may be ahead of a device's clock: ten years. No later change of that device would win over one further ahead.
    package static let microsecondsAheadMax: Int64 = 315_576_000_000_000

    /// Whether a time in a change is further ahead of this device's clock than any change may be.
    package static func isTooFarAhead(_ time: Int64, now: Int64) -> Bool { time > now + microsecondsAheadMax }

    /// Microseconds since the reference date.
    package let time: Int64
    /// The device that made the change. It decides between two changes of one instant.
    package let device: [UInt8]

    package init(time: Int64, device: [UInt8]) {
        self.time = time
        self.device = device
    }

    package static func < (first: Self, second: Self) -> Bool {
        first.time == second.time ? first.device.lexicographicallyPrecedes(second.device) : first.time < second.time
    }

    /// Returns the stamp of a change that a device made at `time` to an item whose last change it knew.
    package static func change(at time: Int64, after known: SyncStamp?, by device: [UInt8]) -> SyncStamp {
        let later = known.map { $0.time + 1 } ?? time
        return SyncStamp(time: min(max(time, later, times.lowerBound), times.upperBound), device: device)
    }
}
