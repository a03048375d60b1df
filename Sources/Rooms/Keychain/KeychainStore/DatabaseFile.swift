internal import Foundation
internal import GRDB
internal import Glibc
internal import VaubanLinuxHost

/// The file of one user's database. It is created once and never replaced; if it cannot be read, it is set aside.
struct DatabaseFile {
    static let name = "keychain.db"
    static let marker = "keychain.db.damaged"
    private static let markerBytesMax = 4096
    private static let setAsideMax = 999
    /// The database, its write-ahead log, and the log's index.
    private static let suffixes = ["", "-wal", "-shm"]

    let folder: PrivateFolder

    /// Returns the configuration of every connection. `pagesMax` simulates a full disk in tests.
    static func configuration(pagesMax: Int? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // Deleted data is overwritten, a prepared file cannot run code, and sorting stays in memory, since this process cannot create
            // files elsewhere.
            try database.execute(
                sql: "PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
            if let pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        return configuration
    }

    var path: String { "\(folder.path)/\(Self.name)" }

    /// Ensures that a database file of a known version exists.
    /// - Parameter isSuspect: Whether a reader has found damage, so that every page is checked.
    func prepare(isSuspect: Bool, _ configuration: Configuration) throws {
        if let damage = try standingDamage() { throw StorageError.damaged(damage) }
        // Not for a suspect file, which is opened again while this process runs: a copy may be in progress.
        if !isSuspect { removeUnfinished() }
        guard try exists() else {
            if let loss = try noteLoss() { throw StorageError.damaged(loss) }
            return try make(configuration)
        }
        do {
            var reading = configuration
            reading.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: reading)
            defer { try? queue.close() }
            try queue.unsafeRead { database in
                if try Schema.isNewer(database) {
                    throw StorageError.newer("\(path) was written by a later version of Vauban")
                }
                guard isSuspect else { return }
                let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
                guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            }
        } catch let error as DatabaseError where error.isDamage {
            throw StorageError.damaged(try putAside())
        }
    }

    /// Returns the marker's text if a damaged database was set aside and the user has not dealt with it.
    private func standingDamage() throws -> String? {
        guard folder.contains(Self.marker) else { return nil }
        guard case .bytes(let bytes) = try DurableFile(Self.marker, in: folder).read(max: Self.markerBytesMax) else { return nil }
        let text = String(validating: bytes, as: UTF8.self) ?? "the keychain database was set aside"
        try finishPuttingAside(text)
        return text
    }

    /// Moves what a killed process left behind when it set the database aside: the user may put a copy in its place, which must not get the
    /// log of another file. Files that the user has put there since then changed later than the marker, and stay.
    private func finishPuttingAside(_ text: String) throws {
        let names = (1...Self.setAsideMax).lazy.map { Self.nameAside($0) }
        guard let marked = timeOfChange(of: Self.marker), let aside = names.first(where: { text.contains("\($0). ") }) else { return }
        let left = Self.suffixes.filter { suffix in
            guard let changed = timeOfChange(of: Self.name + suffix) else { return false }
            return changed <= marked && !folder.contains(aside + suffix)
        }
        if !left.isEmpty { try move(left, to: aside) }
    }

    private func move(_ suffixes: [String], to aside: String) throws {
        let directory = folder.descriptor.number
        for suffix in suffixes {
            try SystemError.check(renameat(directory, Self.name + suffix, directory, aside + suffix), "put \(path) aside")
        }
        try SystemError.check(fsync(directory), "sync the folder of \(path)")
    }

    /// Returns whether the database exists. Throws for an empty file, which SQLite would accept as a new database and so silently lose
    /// everything, and for a write-ahead log without its database.
    private func exists() throws -> Bool {
        var information = stat()
        if fstatat(folder.descriptor.number, Self.name, &information, AT_SYMLINK_NOFOLLOW) != 0 {
            guard errno == ENOENT else { throw SystemError("look at \(path)", code: errno) }
            guard !folder.contains(Self.name + "-wal") else { throw StorageError.damaged(try putAside()) }
            return false
        }
        guard information.st_mode & S_IFMT == S_IFREG, information.st_uid == geteuid() else {
            throw StorageError.failed("\(path) is not a file of this user")
        }
        guard information.st_size > 0 else { throw StorageError.damaged(try putAside()) }
        return true
    }

    /// Leaves a marker and returns its text if the database is gone although its verified copy is there. An empty database would replace
    /// that copy at the next check. If a database was set aside after the copy was made, the user has chosen to begin with an empty one.
    private func noteLoss() throws -> String? {
        guard let copied = timeOfChange(of: Self.verified) else { return nil }
        guard try setAside().compactMap(timeOfChange(of:)).allSatisfy({ $0 < copied }) else { return nil }
        let text = """
            The keychain database \(path) is missing. To go back to the last verified copy, run: vauban doctor --restore. Or put a copy \
            that is whole back and remove \(folder.path)/\(Self.marker); or remove that marker and \(Self.verified) beside it, to begin \
            with an empty keychain.
            """
        try DurableFile(Self.marker, in: folder).replace(with: Array(text.utf8))
        return text
    }

    /// Returns the names of files that were set aside.
    private func setAside() throws -> [String] { try folder.names().filter { $0.hasPrefix("\(Self.name).quarantined-") } }

    /// Returns the path of a file that was set aside and is still here; nil if there is none.
    func firstSetAside() throws -> String? { try setAside().min().map { "\(folder.path)/\($0)" } }

    /// When a file or its name last changed, in nanoseconds since 1970; nil if there is none.
    private func timeOfChange(of name: String) -> Int64? {
        var information = stat()
        guard fstatat(folder.descriptor.number, name, &information, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Int64(information.st_ctim.tv_sec) * 1_000_000_000 + Int64(information.st_ctim.tv_nsec)
    }

    private func make(_ configuration: Configuration) throws {
        try make(Self.name, configuration: configuration) { try Schema.migrator.migrate($0) }
    }

    /// Creates a database beside its place and moves it there when it is complete, so that a crash leaves either the earlier state or a
    /// complete database.
    func make(_ name: String, configuration: Configuration, fill: (DatabaseQueue) throws -> Void) throws {
        let temporary = "\(name).new"
        removeUnfinished(name)
        var isInPlace = false
        // Removes the unfinished file after any error, above all on a full disk, where nothing else would free its space.
        defer { if !isInPlace { removeUnfinished(name) } }
        let directory = folder.descriptor.number
        let path = "\(folder.path)/\(name)"
        let number = try SystemError.check(
            openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "make \(path)")
        let file = Descriptor(number)
        let queue = try DatabaseQueue(path: "\(folder.path)/\(temporary)", configuration: configuration)
        do {
            // Nobody reads the file before it is synced and renamed below, so its transactions need no journal on the disk and no syncs of
            // their own, which take seconds on a busy disk. Neither setting is stored in the file.
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF") }
            try fill(queue)
        } catch {
            try? queue.close()
            throw error
        }
        try queue.close()
        try SystemError.check(fsync(number), "sync \(path)")
        try SystemError.check(renameat(directory, temporary, directory, name), "put \(path) in place")
        isInPlace = true
        try SystemError.check(fsync(directory), "sync the folder of \(path)")
        withExtendedLifetime(file) {}
    }

    /// Removes files that an earlier process left unfinished.
    private func removeUnfinished() { for name in [Self.name, Self.verified] { removeUnfinished(name) } }

    private func removeUnfinished(_ name: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { folder.remove("\(name).new\(suffix)") }
    }

    private static func nameAside(_ number: Int) -> String { "\(name).quarantined-\(number)" }

    /// Renames the database and the files beside it, and leaves a marker so that no empty database is created in its place. Returns what
    /// the user can do.
    func putAside() throws -> String {
        let names = (1...Self.setAsideMax).lazy.map { Self.nameAside($0) }
        guard let aside = names.first(where: { name in Self.suffixes.allSatisfy { !folder.contains(name + $0) } }) else {
            throw SystemError("put \(path) aside", code: EEXIST)
        }
        let text = """
            The keychain database could not be read and was set aside as \(folder.path)/\(aside). To go back to the last \
            verified copy, if there is one, run: vauban doctor --restore. Or put a copy that is whole back as \(path) and remove \
            \(folder.path)/\(Self.marker); or remove only that marker, to begin with an empty keychain.
            """
        try DurableFile(Self.marker, in: folder).replace(with: Array(text.utf8))
        try move(Self.suffixes.filter { folder.contains(Self.name + $0) }, to: aside)
        return text
    }
}
