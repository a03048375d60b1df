// The last verified copy of the database, made right after every row was verified. It is restored only with the user's consent, since it
// contains what was removed later.

internal import Foundation
internal import Glibc
internal import GRDB
internal import VaubanLinuxHost

/// A copy, or the outcome of making one.
package struct VerifiedGeneration: Hashable, Sendable {
    /// When it was made, in microseconds since the reference date.
    package let date: Int64
    package let rows: Int

    package init(date: Int64, rows: Int) {
        self.date = date
        self.rows = rows
    }
}

/// The outcome of making a copy. Every outcome but the first leaves the earlier copy in place.
package enum VerifiedCopyOutcome: Hashable, Sendable {
    case kept(VerifiedGeneration)
    /// The database is too large to be stored twice.
    case tooLarge
    /// The disk is full. If that was measured before anything was written, this many bytes must be freed.
    case noRoom(bytesMissing: Int64?)
    /// The disk failed, or the copy did not verify.
    case failed
}

/// The disk space that a copy may use.
package struct CopyRoom: Sendable {
    package let bytesMax: Int
    /// The bytes to leave free: a copy must never take the space that the enclave needs to count an attempt, or the keychain to write an
    /// item.
    package let bytesReserved: Int

    package init(bytesMax: Int, bytesReserved: Int) {
        self.bytesMax = bytesMax
        self.bytesReserved = bytesReserved
    }
}

extension DatabaseFile {
    static let verified = "keychain.db.verified"

    /// Returns the copy if it is intact; nil if there is none.
    func verifiedGeneration() throws -> VerifiedGeneration? {
        var information = stat()
        guard fstatat(folder.descriptor.number, Self.verified, &information, AT_SYMLINK_NOFOLLOW) == 0,
            information.st_mode & S_IFMT == S_IFREG, information.st_uid == geteuid(), information.st_size > 0
        else { return nil }
        let rows: Int?
        do {
            rows = try readingCopy { queue in try queue.unsafeRead { try Self.rowsIfWhole($0) } }
        } catch let error as DatabaseError where error.isDamage {
            return nil
        }
        return rows.map { VerifiedGeneration(date: Self.microseconds(information.st_mtim), rows: $0) }
    }

    private static func rowsIfWhole(_ database: Database) throws -> Int? {
        guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok", try !Schema.isNewer(database) else { return nil }
        return try Int.fetchOne(database, sql: "SELECT count(*) FROM item")
    }

    /// Returns the classes and generations of the rows in the copy; none if there is no readable copy.
    func verifiedGenerations() throws -> [RowGeneration] {
        guard folder.contains(Self.verified) else { return [] }
        do {
            return try readingCopy { queue in
                try queue.unsafeRead { database in
                    // A copy from an earlier version has no history.
                    let tables = ["item", "quarantine"] + (try database.tableExists("history") ? ["history"] : [])
                    return try tables.flatMap { try KeychainDatabase.generations(in: $0, database) }
                }
            }
        } catch let error as DatabaseError where error.isDamage {
            return []
        }
    }

    /// Replaces the copy with the database as this connection sees it, unless that is too large.
    func keep(_ source: DatabaseQueue, _ room: CopyRoom) throws -> VerifiedCopyOutcome {
        let bytes = try source.unsafeRead { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            return pages * (try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4096)
        }
        guard bytes <= room.bytesMax else { return .tooLarge }
        // The earlier copy stays until this one is complete, so there must be space for both.
        let missing = Int64(bytes + room.bytesReserved) - Int64(clamping: try DiskSpace.bytesFree(in: folder))
        guard missing <= 0 else { return .noRoom(bytesMissing: missing) }
        try make(Self.verified, configuration: Self.configuration()) { copy in
            try Self.copy(source, to: copy)
            guard try copy.unsafeRead(Self.rowsIfWhole) != nil else { throw StorageError.failed("the copy does not verify") }
        }
        return try verifiedGeneration().map(VerifiedCopyOutcome.kept) ?? .failed
    }

    /// Removes the copy for good.
    func forgetVerified() throws {
        guard folder.contains(Self.verified) else { return }
        for name in [Self.verified, "\(Self.verified).new"] {
            for suffix in ["", "-journal", "-wal", "-shm"] { folder.remove(name + suffix) }
        }
        try SystemError.check(fsync(folder.descriptor.number), "sync the folder of \(path)")
        if folder.contains(Self.verified) { throw SystemError("remove \(folder.path)/\(Self.verified)", code: EIO) }
    }

    /// Moves the copy to the database's place, after setting aside any database that is there. The marker is removed last, so that a kill
    /// in between leaves a database that is still refused.
    func restoreVerified() throws {
        if folder.contains(Self.name) || folder.contains(Self.name + "-wal") { _ = try putAside() }
        try readingCopy { source in
            try make(Self.name, configuration: Self.configuration()) { try Self.copy(source, to: $0) }
        }
        folder.remove(Self.marker)
        try SystemError.check(fsync(folder.descriptor.number), "sync the folder of \(path)")
    }

    /// Returns when the database that was set aside last was written; nil if there is none.
    func damagedSince() -> Int64? {
        (1...999).lazy.map { "\(Self.name).quarantined-\($0)" }.prefix { folder.contains($0) }.compactMap { name -> Int64? in
            var newest: Int64?
            for suffix in ["", "-wal"] {
                var information = stat()
                guard fstatat(folder.descriptor.number, name + suffix, &information, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                newest = max(newest ?? .min, Self.microseconds(information.st_mtim))
            }
            return newest
        }.last
    }

    private func readingCopy<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
        var configuration = Self.configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: "\(folder.path)/\(Self.verified)", configuration: configuration)
        defer { try? queue.close() }
        return try body(queue)
    }

    /// Copies page by page with SQLite's backup interface. The pages include the mark of a write-ahead log, which a standalone file must
    /// not have.
    private static func copy(_ source: DatabaseQueue, to target: DatabaseQueue) throws {
        try source.backup(to: target)
        try target.writeWithoutTransaction { database in
            let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
            guard mode == "delete" else { throw StorageError.failed("the copy keeps its log") }
        }
    }

    private static func microseconds(_ time: timespec) -> Int64 {
        (Int64(time.tv_sec) - 978_307_200) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

extension KeychainDatabase {
    /// Keeps a copy of the present database. A failure leaves everything as it was.
    package func keepVerified(_ room: CopyRoom) -> VerifiedCopyOutcome {
        copying.withLock { _ in
            if isSuspect { return .failed }
            do {
                return try withOwnConnection { try file.keep($0, room) }
            } catch {
                return StorageError(error, in: file.folder) == .full ? .noRoom(bytesMissing: nil) : .failed
            }
        }
    }

    /// Returns the verified copy; nil if there is none that can be read.
    package func verifiedCopy() -> VerifiedGeneration? { copying.withLock { _ in (try? file.verifiedGeneration()) ?? nil } }

    /// Returns every class and generation of the copy's rows.
    package func verifiedGenerations() throws(StorageError) -> [RowGeneration] {
        try copying.withLock { _ throws(StorageError) in try withDamageDetection { try file.verifiedGenerations() } }
    }

    /// Removes the copy, because its content was erased or can no longer be opened.
    package func forgetVerified() throws(StorageError) {
        // Waits for a copy in progress, which would otherwise appear after the removal with the content to be removed.
        try copying.withLock { _ throws(StorageError) in try withDamageDetection { try file.forgetVerified() } }
    }
}

extension DatabaseRegistry {
    /// Returns the copy that can replace a user's damaged database, and when that was last written. Throws if the database is not damaged.
    package func restorable(of user: UInt32) throws(StorageError) -> (generation: VerifiedGeneration, damagedSince: Int64?) {
        try whileDamaged(user) { file throws in
            guard let generation = try file.verifiedGeneration() else { throw StorageError.noCopy }
            return (generation, file.damagedSince())
        }
    }

    /// Restores the copy, if it is still the one of this date.
    package func restore(_ user: UInt32, copyOf date: Int64) throws(StorageError) {
        try whileDamaged(user) { file throws in
            guard let generation = try file.verifiedGeneration(), generation.date == date else { throw StorageError.noCopy }
            try file.restoreVerified()
        }
    }
}
