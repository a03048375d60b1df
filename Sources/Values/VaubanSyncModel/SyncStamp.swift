/// When a change was made, by a hybrid logical clock: the writer's clock, moved past the last change that the writer knew of the same item.
/// So a later change of an item has a later stamp, whatever the devices' clocks show.
package struct SyncStamp: Hashable, Sendable, Comparable {
    /// Times outside this range, some 36,000 years away, are refused in files, so that a later time always exists.
    package static let times: ClosedRange<Int64> = -(1 << 60)...(1 << 60)

    /// How far a change may be ahead of a device's clock: ten years. No later change by that device could win over one further ahead.
    package static let microsecondsAheadMax: Int64 = 315_576_000_000_000

    /// Whether a time in a change is further ahead of this device's clock than any change may be.
    package static func isTooFarAhead(_ time: Int64, now: Int64) -> Bool { time > now + microsecondsAheadMax }

    /// Microseconds since the reference date.
    package let time: Int64
    /// The device that made the change. It decides between two changes at the same instant.
    package let device: [UInt8]

    package init(time: Int64, device: [UInt8]) {
        self.time = time
        self.device = device
    }

    package static func < (first: Self, second: Self) -> Bool {
        first.time == second.time ? first.device.lexicographicallyPrecedes(second.device) : first.time < second.time
    }

    /// Returns the stamp of a change made at `time` by a device that knew the item's last change.
    package static func change(at time: Int64, after known: SyncStamp?, by device: [UInt8]) -> SyncStamp {
        let later = known.map { $0.time + 1 } ?? time
        return SyncStamp(time: min(max(time, later, times.lowerBound), times.upperBound), device: device)
    }
}
