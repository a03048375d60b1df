// Versions of an item that a device took or sent, and which of them the maker of a change knew (Specs/sync.md, "Parts").

/// The place of a file among those of the device that wrote it.
package struct FilePlace: Hashable, Sendable {
    package let device: [UInt8]
    package let number: Int64

    package init(device: [UInt8], number: Int64) {
        self.device = device
        self.number = number
    }
}

/// A version of an item that this device took or sent.
package struct SyncedVersion: Hashable, Sendable {
    /// The most versions that are noted for each item. A maker who knew only earlier ones has no common version with this device.
    package static let countMax = 8

    package let stamp: SyncStamp
    /// The file that has it; a later one of the same device if this device no longer knows which it was.
    package let file: FilePlace
    package let parts: PartDigests

    package init(stamp: SyncStamp, file: FilePlace, parts: PartDigests) {
        self.stamp = stamp
        self.file = file
        self.parts = parts
    }
}

/// The file in which changes came, and what its writer had read before it wrote it.
package struct ChangeOrigin: Hashable, Sendable {
    package let file: FilePlace
    /// The number of the last file that the writer had read of each other device.
    package let read: [[UInt8]: Int64]

    package init(file: FilePlace, read: [[UInt8]: Int64]) {
        self.file = file
        self.read = read
    }

    /// Returns whether the device that made a change of this file knew a version. A change that another device wrote again does not say
    /// what its maker had read.
    func maker(of stamp: SyncStamp, knew version: SyncedVersion) -> Bool {
        guard version.stamp < stamp else { return false }
        if version.stamp.device == stamp.device { return true }
        guard stamp.device == file.device else { return false }
        let last = version.file.device == file.device ? file.number - 1 : read[version.file.device] ?? 0
        return version.file.number <= last
    }
}
