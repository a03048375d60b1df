import VaubanSyncModel

/// The versions of items in the state. A state may have a hundred thousand of them, so devices are references where they can be, and
/// digests are stored only where they differ from the version before.
extension SyncState {
    /// How a device is stored.
    private enum DeviceReference: UInt8, CaseIterable {
        case this, ofStamp, ofBase, given

        /// Returns the reference to a device among those of an entry.
        static func to(_ device: [UInt8], of entry: SyncLedger.Entry, on this: [UInt8]) -> DeviceReference {
            device == this ? .this : device == entry.stamp.device ? .ofStamp : device == entry.base?.device ? .ofBase : .given
        }
    }

    /// Set beside the references if the version has the time of the entry's stamp, as it usually has.
    private static let hasTimeOfStamp: UInt8 = 16

    /// Appends the versions: their number (1); of each, two references and a flag (1), the devices that are given (16 each), its time (8)
    /// unless it is that of the entry's stamp, the number of its file (4), and the number (1) of parts with other digests than in the
    /// version before, for each its number (1) and its digest (8), 0 if the item does not have the part.
    static func append(_ versions: [SyncedVersion], of entry: SyncLedger.Entry, on this: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(UInt8(versions.count))
        var before = PartDigests([:])
        for version in versions {
            let devices = [version.stamp.device, version.file.device]
            let references = devices.map { DeviceReference.to($0, of: entry, on: this) }
            let hasTime = version.stamp.time != entry.stamp.time
            bytes.append(references[0].rawValue | references[1].rawValue << 2 | (hasTime ? 0 : Self.hasTimeOfStamp))
            for (device, reference) in zip(devices, references) where reference == .given { bytes += device }
            if hasTime { bytes += SyncFile.bytes(of: version.stamp.time) }
            bytes += BackupFormat.number(Int(version.file.number))
            let changed = version.parts.parts(otherThanIn: before)
            bytes.append(UInt8(changed.count))
            for part in changed { bytes += [part.rawValue] + SyncFile.bytes(of: Int64(bitPattern: version.parts[part])) }
            before = version.parts
        }
    }

    /// Reads versions.
    /// - Parameter entry: The entry without its versions.
    static func versions(_ reader: inout ByteReader, of entry: SyncLedger.Entry, on this: [UInt8]) -> [SyncedVersion]? {
        guard let count = reader.take(1)?.first, count <= SyncedVersion.countMax else { return nil }
        var versions: [SyncedVersion] = []
        var digests: [ItemPart: UInt64] = [:]
        for _ in 0..<count {
            guard let references = reader.take(1)?.first, references < 32,
                let maker = device(references & 3, &reader, of: entry, on: this),
                let writer = device(references >> 2 & 3, &reader, of: entry, on: this),
                let time = references & hasTimeOfStamp == 0 ? reader.date() : entry.stamp.time, let number = reader.number(),
                let changed = reader.take(1)?.first
            else { return nil }
            for _ in 0..<changed {
                guard let part = reader.take(1)?.first.flatMap(ItemPart.init), let digest = reader.date() else { return nil }
                digests[part] = UInt64(bitPattern: digest)
            }
            versions.append(
                SyncedVersion(
                    stamp: SyncStamp(time: time, device: maker), file: FilePlace(device: writer, number: Int64(number)),
                    parts: PartDigests(digests)))
        }
        return versions
    }

    private static func device(_ number: UInt8, _ reader: inout ByteReader, of entry: SyncLedger.Entry, on this: [UInt8]) -> [UInt8]? {
        switch DeviceReference(rawValue: number) {
        case .this: this
        case .ofStamp: entry.stamp.device
        case .ofBase: entry.base?.device
        case .given: reader.take(16)
        case nil: nil
        }
    }
}
