import VaubanSyncModel

/// The statements in the state: the digests that are known, what others name, and who follows another circle.
extension SyncState {
    static func statements(_ reader: inout ByteReader, of device: [UInt8]) -> StatementLedger? {
        guard let known = reader.number() else { return nil }
        var digests: [Int64: [UInt8]] = [:]
        for _ in 0..<known {
            guard let mark = Self.mark(&reader) else { return nil }
            digests[mark.number] = mark.digest
        }
        guard let named = reader.number() else { return nil }
        var reports: [[UInt8]: StatementMark] = [:]
        for _ in 0..<named {
            guard let follower = reader.take(16), let mark = Self.mark(&reader) else { return nil }
            reports[follower] = mark
        }
        guard let forked = reader.number() else { return nil }
        var forks: [[UInt8]: Int64] = [:]
        for _ in 0..<forked {
            guard let follower = reader.take(16), let number = reader.date() else { return nil }
            forks[follower] = number
        }
        return StatementLedger(device: device, digests: digests, reports: reports, forks: forks)
    }

    private static func mark(_ reader: inout ByteReader) -> StatementMark? {
        guard let number = reader.date(), number > 0, let digest = reader.take(32) else { return nil }
        return StatementMark(number: number, digest: digest)
    }

    static func bytes(_ statements: StatementLedger) -> [UInt8] {
        var bytes = BackupFormat.number(statements.digests.count)
        for (number, digest) in statements.digests { bytes += SyncFile.bytes(of: number) + digest }
        bytes += BackupFormat.number(statements.reports.count)
        for (device, mark) in statements.reports { bytes += device + SyncFile.bytes(of: mark.number) + mark.digest }
        bytes += BackupFormat.number(statements.forks.count)
        for (device, number) in statements.forks { bytes += device + SyncFile.bytes(of: number) }
        return bytes
    }
}
