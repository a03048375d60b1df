internal import Foundation
internal import GRDB
package import VaubanLinuxHost

/// One user's items on disk. Every call runs on the thread that makes it. One connection writes and others read, so that
/// a read never waits for another's write to reach the disk; GRDB's pool does the same, but asks for the schema's version
/// at each read, which cost a quarter of a look-up.
package final class KeychainDatabase: Sendable {
    /// Closed first, so that the writer is the last one and moves its log into the file.
    private let readers: ReadingConnections
    private let writer: DatabaseQueue
    let file: DatabaseFile
    var path: String { writer.path }
    private let suspicion = ThreadMutex(false)
    /// Held while the verified copy is made or removed.
    let copying = ThreadMutex(())
    /// The index keys that are known to be those of the file.
    let indexKeys = ThreadMutex<[Int64: [UInt8]]>([:])
    /// Class keys under which no row is written any more. Requests that could still write one end with this process, so
    /// nothing of it needs to be on disk.
    let closed: ThreadMutex<Set<RowGeneration>>
    /// What is known of the history without asking the file.
    let history = ThreadMutex(HistoryState())

    /// Opens the database in a user's folder, and makes it if there is none.
    /// - Parameter closed: what an earlier one of this process knew of class keys under which nothing is written any more.
    package init(folder: PrivateFolder, isSuspect: Bool = false, pagesMax: Int? = nil, closed: Set<RowGeneration> = []) throws {
        self.closed = ThreadMutex(closed)
        file = DatabaseFile(folder: folder)
        var configuration = DatabaseFile.configuration(pagesMax: pagesMax)
        do {
            try file.prepare(isSuspect: isSuspect, configuration)
            configuration.journalMode = .wal
            writer = try DatabaseQueue(path: file.path, configuration: configuration)
            // With WAL comes NORMAL by itself, which would lose the last writes in a power cut.
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try Schema.migrator.migrate(writer)
            let state = try writer.unsafeRead { try HistoryState($0) }
            history.withLock { $0 = state }
            // A process that was killed may have left removed rows in the log. It is no fault if they stay a little longer.
            try? writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            configuration.readonly = true
            configuration.journalMode = .default
            readers = try ReadingConnections(path: file.path, configuration)
        } catch let error as DatabaseError where error.isDamage && !isSuspect {
            // Damage that the first look did not meet: look at every page, which puts the file aside if it is so.
            try file.prepare(isSuspect: true, configuration)
            throw error
        }
    }

    /// A call has met damaged pages; the next one opens the file anew and looks at all of it.
    package var isSuspect: Bool { suspicion.withLock { $0 } }

    /// Reads in one statement, without a transaction around it.
    func read<Value>(_ body: (Database) throws -> Value) throws(StorageError) -> Value {
        try watching { try readers.read(body) }
    }

    /// One immediate transaction: all of it is on disk when this returns, or none. In a file that may be put aside nothing
    /// is written any more, since it would be acknowledged and then be gone.
    func write<Value>(_ body: (Database) throws -> (Value, Database.TransactionCompletion)) throws(StorageError) -> Value {
        try watching {
            try writer.writeWithoutTransaction { database in
                if isSuspect { throw StorageError.failed("the keychain database is to be checked") }
                var value: Value?
                try database.inTransaction(.immediate) {
                    let (result, completion) = try body(database)
                    value = result
                    return completion
                }
                guard let value else { throw StorageError.failed("a transaction gave no result") }
                return value
            }
        }
    }

    /// Overwrites what was removed wherever it may still lie: older pages in the log, by moving it into the file and cutting
    /// it off. An empty database is made compact too; the copy for that is in memory.
    package func forgetOldPages(isEmpty: Bool = false) throws(StorageError) {
        try watching {
            try writer.writeWithoutTransaction { database in
                // Free pages are zero already, so that it is no fault if they stay.
                if isEmpty { try? database.execute(sql: "VACUUM") }
                _ = try database.checkpoint(.truncate)
            }
        }
    }

    /// Rebuilds SQLite's own indexes from the rows; fails where two rows would be one.
    func rebuildIndexes() throws(StorageError) { try watching { try writer.writeWithoutTransaction { try $0.execute(sql: "REINDEX") } } }

    /// Waits for the calls that run and lets no other begin: what is acknowledged is in the file from then on.
    package func close() throws(StorageError) {
        try watching {
            try readers.close()
            try writer.close()
        }
    }

    /// From now on nothing is written, and the next one who opens the file looks at all of it.
    func suspect() { suspicion.withLock { $0 = true } }

    func watching<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try body()
        } catch {
            if let error = error as? DatabaseError, error.isDamage { suspect() }
            throw StorageError(error, in: file.folder)
        }
    }
}
