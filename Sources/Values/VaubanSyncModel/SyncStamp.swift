/// When a change was made, by a hybrid logical clock: the writer's clock, moved past the change that the writer knew of the same item. A
/// later change of an item therefore has a later stamp, whatever the clocks of the devices show.
package struct SyncStamp: Hashable, Sendable, Comparable {
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
        guard let known, known.time >= time else { return SyncStamp(time: time, device: device) }
        return SyncStamp(time: known.time == .max ? .max : known.time + 1, device: device)
    }
}
