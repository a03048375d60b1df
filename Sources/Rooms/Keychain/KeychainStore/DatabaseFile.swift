internal import Foundation
internal import GRDB
internal import Glibc
internal import VaubanLinuxHost

/// The file of one user's database: made once, never replaced, put aside when it cannot be read.
struct DatabaseFile {
    static let name = "keychain.db"
    static let marker = "keychain.db.damaged"
    private static let markerBytesMax = 4096

    let folder: PrivateFolder

    /// How every connection is made. `pagesMax` stands for a full disk where a test needs one.
    static func configuration(pagesMax: Int? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // What is deleted is overwritten; a file that someone prepared can run nothing; what SQLite sorts stays in memory,
            // since this process can make no file elsewhere.
            try database.execute(
                sql: "PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
            if let pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        return configuration
    }

    var path: String { "\(folder.path)/\(Self.name)" }

    /// Makes sure that there is a file that is a database of a version that we know.
    /// - Parameter isSuspect: a reader has met damage before, so every page is looked at.
    func prepare(isSuspect: Bool, _ configuration: Configuration) throws {
        if let damage = try standingDamage() { throw StorageError.damaged(damage) }
        // A suspect file is opened again while this process runs, where a copy may just be being made.
        if !isSuspect { removeUnfinished() }
        guard try exists() else { return try make(configuration) }
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

    /// What the marker says, if a damaged database was put aside and the user has not said that it is settled.
    private func standingDamage() throws -> String? {
        guard folder.contains(Self.marker) else { return nil }
        guard case .bytes(let bytes) = try DurableFile(Self.marker, in: folder).read(max: Self.markerBytesMax) else { return nil }
        return String(validating: bytes, as: UTF8.self) ?? "the keychain database was put aside"
    }

    /// An empty file is not a new database: SQLite would take it for one, and everything that was there would be gone
    /// without a word. The same goes for a write-ahead log whose database is missing.
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

    private func make(_ configuration: Configuration) throws {
        try make(Self.name, configuration) { try Schema.migrator.migrate($0) }
    }

    /// Makes a new database beside and puts it in place when it is whole, so that a crash leaves none (or the one that was
    /// there) or a complete one.
    func make(_ name: String, _ configuration: Configuration, _ fill: (DatabaseQueue) throws -> Void) throws {
        let temporary = "\(name).new"
        removeUnfinished(name)
        var isInPlace = false
        // Whatever stops it, on a full disk above all, what it has written goes: nobody else could make room for the rest.
        defer { if !isInPlace { removeUnfinished(name) } }
        let directory = folder.descriptor.number
        let path = "\(folder.path)/\(name)"
        let number = try SystemError.check(
            openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "make \(path)")
        let file = Descriptor(number)
        let queue = try DatabaseQueue(path: "\(folder.path)/\(temporary)", configuration: configuration)
        do { try fill(queue) } catch {
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

    /// Removes what a process that was killed, or that found no room, left of a file that it was making.
    private func removeUnfinished() { for name in [Self.name, Self.verified] { removeUnfinished(name) } }

    private func removeUnfinished(_ name: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { folder.remove("\(name).new\(suffix)") }
    }

    /// Renames the database and what belongs to it, and leaves a marker that keeps an empty one from taking its place.
    /// Answers what the user can do.
    func putAside() throws -> String {
        let directory = folder.descriptor.number
        guard
            let number = (1...999).first(where: { number in
                ["", "-wal", "-shm"].allSatisfy { !folder.contains("\(Self.name).quarantined-\(number)\($0)") }
            })
        else { throw SystemError("put \(path) aside", code: EEXIST) }
        let aside = "\(Self.name).quarantined-\(number)"
        let text = """
            The keychain database could not be read and was put aside as \(folder.path)/\(aside). To go back to the last \
            verified copy, if there is one, run: vauban doctor --restore. Or put a copy that is whole back as \(path) and remove \
            \(folder.path)/\(Self.marker); or remove only that marker, to begin with an empty keychain.
            """
        try DurableFile(Self.marker, in: folder).replace(with: Array(text.utf8))
        for suffix in ["", "-wal", "-shm"] where folder.contains(Self.name + suffix) {
            try SystemError.check(renameat(directory, Self.name + suffix, directory, aside + suffix), "put \(path) aside")
        }
        try SystemError.check(fsync(directory), "sync the folder of \(path)")
        return text
    }
}
