/// What a folder of backups remembers between runs, beside its manifest (Specs/backup.md). A backup restores without it.
package struct BackupMemory: Equatable {
    /// When the last run was completed, in microseconds since the reference date; 0 if that is not known.
    package var date: Int64 = 0
    /// The keychain databases that have everything of the backup, since it was made from them or restored to them, each with the number of
    /// its last backup.
    package var databases: [Int64: Int64] = [:]
    /// The digests of the lists for which that holds: that of the last run, and the one that it replaced. None were remembered before.
    package var lists: [[UInt8]] = []
    /// The altered segments whose files are kept, by their digests, each with its items that are in the keychain no more.
    package var rotted: [[UInt8]: [[UInt8]]] = [:]
    /// The items that are gone from the keychain without a deletion, each with the date when this was found.
    package var gone: [[UInt8]: Int64] = [:]
    /// When each segment was last read, by its digest.
    package var checked: [[UInt8]: Int64] = [:]

    package init() {}

    /// What a memory with lists begins with, in place of a date.
    private static let version: Int64 = -2

    /// Returns nil if the bytes are not a valid memory.
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

    /// Returns whether the databases have everything of a list, by its digest. That is not known of one that is not whole, nil.
    package func holds(of list: [UInt8]?) -> Bool {
        guard let list, !lists.isEmpty else { return true }
        return lists.contains(list)
    }

    // MARK: Reading segments again

    /// All segments are read again within this time.
    package static let checkMicroseconds: Int64 = 7 * 86_400 * 1_000_000

    /// Returns which segments, by their digests, are to be read in a run at this time: those whose last reading is longest ago, as many as
    /// the time since the last run demands, and all that were not read for a week.
    package func due(of digests: [[UInt8]], at now: Int64) -> Set<[UInt8]> {
        let week = Self.checkMicroseconds
        let elapsed = date > 0 && date <= now ? min(now - date, week) : week
        let (seconds, all) = (Int(elapsed / 1_000_000), Int(week / 1_000_000))
        let share = max(1, (digests.count * seconds + all - 1) / all)
        let dated = digests.map { digest in
            // A date in the future is of a clock that was wrong.
            (digest: digest, date: checked[digest].flatMap { $0 <= now ? $0 : nil } ?? 0)
        }
        let oldest = dated.sorted { $0.date < $1.date }.enumerated().filter { $0.offset < share || $0.element.date <= now - week }
        return Set(oldest.map(\.element.digest))
    }
}
