import VaubanKeychainWire
import VaubanRefusal
import VaubanSyncModel

/// What this device remembers between runs: how far it read each device, and its ledger. It is sealed under a key of this device's part of
/// the circle, so that nobody can change it unnoticed.
struct SyncState {
    private static let version = 1

    /// The last files that were read, by device; this device's own among them.
    var seen: [[UInt8]: SyncPosition] = [:]
    var ledger: SyncLedger
    /// Whether everything is to be written again, for those who will not read a removed device.
    var repeatsAll = false

    init(device: [UInt8]) { ledger = SyncLedger(device: device) }

    /// Reads a state; a missing one is new.
    init(_ sealed: [UInt8]?, of circle: CircleView, _ cipher: FrameCipher, at path: String) throws {
        self.init(device: circle.device)
        guard let sealed else { return }
        guard let plaintext = cipher.open(sealed, .syncState), read(plaintext) else {
            throw Refusal(
                .badParameter,
                "\(SafeText.visible(path)) is damaged; remove it and run vauban sync again, which reads the whole folder anew")
        }
    }

    private mutating func read(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard reader.number() == Self.version, let repeats = reader.take(1), let devices = reader.number() else { return false }
        repeatsAll = repeats == [1]
        for _ in 0..<devices {
            guard let device = reader.take(16), let number = reader.date(), let chain = reader.take(32), let digest = reader.take(32) else {
                return false
            }
            seen[device] = SyncPosition(number: number, chain: chain, digest: digest)
        }
        var entries: [[UInt8]: SyncLedger.Entry] = [:]
        while !reader.isAtEnd {
            guard let name = reader.take(SyncRequest.nameBytes), let time = reader.date(), let device = reader.take(16),
                let flags = reader.take(1)?.first, let mark = reader.take(SyncRequest.markBytes), let changed = reader.date()
            else { return false }
            entries[name] = SyncLedger.Entry(
                stamp: SyncStamp(time: time, device: device), mark: flags & 1 == 0 ? mark : nil, changed: changed, isPending: flags & 2 != 0
            )
        }
        ledger = SyncLedger(device: ledger.device, entries: entries)
        return true
    }

    func sealed(_ cipher: FrameCipher) throws -> [UInt8] {
        var bytes = BackupFormat.number(Self.version) + [repeatsAll ? 1 : 0] + BackupFormat.number(seen.count)
        for (device, position) in seen { bytes += device + SyncFile.bytes(of: position.number) + position.chain + position.digest }
        for (name, entry) in ledger.entries {
            let mark = entry.mark ?? [UInt8](repeating: 0, count: SyncRequest.markBytes)
            bytes += name + SyncFile.bytes(of: entry.stamp.time) + entry.stamp.device
            bytes += [(entry.mark == nil ? 1 : 0) | (entry.isPending ? 2 : 0)] + mark + SyncFile.bytes(of: entry.changed)
        }
        return try cipher.seal(bytes, .syncState)
    }
}
