/// The state that a folder of backups keeps between runs, beside its manifest (Specs/backup.md). A backup can be restored without it.
package struct BackupMemory: Equatable {
    /// When the last run was completed, in microseconds since the reference date; 0 if unknown.
    package var date: Int64 = 0
    /// The keychain databases that contain everything in the backup, since it was made from them or restored to them, each with the number
    /// of its last backup.
    package var databases: [Int64: Int64] = [:]
    /// The digests of the manifests for which `databases` holds: the last run's, and the one that it replaced. Empty in earlier versions.
    package var lists: [[UInt8]] = []
    /// The altered segments whose files are kept, by their expected digests, each with its items that are no longer in the keychain.
    package var rotted: [[UInt8]: [[UInt8]]] = [:]
    /// The items that disappeared from the keychain without a deletion, each with the date when this was noticed.
    package var gone: [[UInt8]: Int64] = [:]
    /// When each segment was last read, by its digest.
    package var checked: [[UInt8]: Int64] = [:]

    package init() {}

    /// The first number of a state with `lists`, in place of a date.
    private static let version: Int64 = -2

    /// Returns nil if the bytes are not a valid state.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let first = reader.date() else { return nil }
        date = first
        let hasLists = first == Self.version
        if hasLists {
            guard let date = reader.date(), let lists = reader.number() else { return nil }
            self.date = date
            for _ in 0..<lists {
                guard let list = reader.take(32) else { return nil }
                self.lists.append(list)
            }
        }
        guard let databases = reader.number() else { return nil }
        for _ in 0..<databases {
            guard let database = reader.date(), let number = reader.date() else { return nil }
            self.databases[database] = number
        }
        guard let gone = reader.number() else { return nil }
        for _ in 0..<gone {
            guard let item = reader.take(16), let date = reader.date() else { return nil }
            self.gone[item] = date
        }
        if hasLists {
            guard let rotted = reader.number() else { return nil }
            for _ in 0..<rotted {
                guard let digest = reader.take(32), let items = Self.items(&reader) else { return nil }
                self.rotted[digest] = items
            }
        }
        while !reader.isAtEnd {
            guard let digest = reader.take(32), let date = reader.date() else { return nil }
            checked[digest] = date
        }
    }

    private static func items(_ reader: inout ByteReader) -> [[UInt8]]? {
        guard let count = reader.number() else { return nil }
        var items: [[UInt8]] = []
        for _ in 0..<count {
            guard let item = reader.take(16) else { return nil }
            items.append(item)
        }
        return items
    }

    package var bytes: [UInt8] {
        func encoded(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        var bytes = encoded(Self.version) + encoded(date) + BackupFormat.number(lists.count)
        for list in lists { bytes += list }
        bytes += BackupFormat.number(databases.count)
        for (database, number) in databases { bytes += encoded(database) + encoded(number) }
        bytes += BackupFormat.number(gone.count)
        for (item, date) in gone { bytes += item + encoded(date) }
        bytes += BackupFormat.number(rotted.count)
        for (digest, items) in rotted {
            bytes += digest + BackupFormat.number(items.count)
            for item in items { bytes += item }
        }
        for (digest, date) in checked { bytes += digest + encoded(date) }
        return bytes
    }

    /// Returns false if the databases are known to lack something in a manifest, given its digest. Nothing is known about a damaged
    /// manifest (nil).
    package func holds(of list: [UInt8]?) -> Bool {
        guard let list, !lists.isEmpty else { return true }
        return lists.contains(list)
    }

    // MARK: Reading segments again

    /// All segments are read again within this time.
    package static let checkMicroseconds: Int64 = 7 * 86_400 * 1_000_000

    /// Returns the digests of the segments to read in a run at this time: those that were read longest ago, as many as the time since the
    /// last run requires, and all that have not been read for a week.
    package func due(of digests: [[UInt8]], at now: Int64) -> Set<[UInt8]> {
        let week = Self.checkMicroseconds
        let elapsed = date > 0 && date <= now ? min(now - date, week) : week
        let (seconds, all) = (Int(elapsed / 1_000_000), Int(week / 1_000_000))
        let share = max(1, (digests.count * seconds + all - 1) / all)
        let dated = digests.map { digest in
            // A date in the future comes from a wrong clock.
            (digest: digest, date: checked[digest].flatMap { $0 <= now ? $0 : nil } ?? 0)
        }
        let oldest = dated.sorted { $0.date < $1.date }.enumerated().filter { $0.offset < share || $0.element.date <= now - week }
        return Set(oldest.map(\.element.digest))
    }
}
