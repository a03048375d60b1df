internal import Foundation
internal import GRDB
internal import Synchronization
package import VaubanLinuxHost

/// One user's items on disk. Every call runs on the calling thread. One connection writes and others read, so that a read never waits until
/// another thread's write is on the disk. GRDB's pool does the same, but queries the schema's version at each read, which took a quarter of
/// the time of a look-up.
package final class KeychainDatabase: Sendable {
    /// The reading connections. They are closed first, so that the writer is the last connection and moves its log into the file.
    private let readers: ReadConnections
    private let writer: DatabaseQueue
    let file: DatabaseFile
    /// Distinguishes this database from every other that this process opened.
    package let number = openings.add(1, ordering: .relaxed).newValue
    private static let openings = Atomic<Int64>(0)
    var path: String { writer.path }
    private let suspicion = ThreadMutex(false)
    /// Held while the verified copy is made or removed.
    let copying = ThreadMutex(())
    /// The index keys to which the file is known to be bound.
    let indexKeys = ThreadMutex<[Int64: [UInt8]]>([:])
    /// Class keys under which no row is written any more. This need not be on disk, since the requests that could still write one end with
    /// this process.
    let closed: ThreadMutex<Set<RowGeneration>>
    /// The state of the history, kept in memory to spare queries.
    let history = ThreadMutex(HistoryState())
    /// Whether the identities of deleted items are kept.
    let tombstones = ThreadMutex(false)

    /// Opens the database in a user's folder, and creates it if there is none.
    /// - Parameters:
    ///   - closed: Class keys that were closed in an earlier database of this process.
    ///   - retention: The time by which deleted items expired in that database.
    package init(
        folder: PrivateFolder, isSuspect: Bool = false, pagesMax: Int? = nil, closed: Set<RowGeneration> = [],
        retention: RetentionTime? = nil
    ) throws {
        self.closed = ThreadMutex(closed)
        file = DatabaseFile(folder: folder)
        var configuration = DatabaseFile.configuration(pagesMax: pagesMax)
        do {
            try file.prepare(isSuspect: isSuspect, configuration)
            configuration.journalMode = .wal
            writer = try DatabaseQueue(path: file.path, configuration: configuration)
            // In WAL mode the default is NORMAL, which could lose the last writes in a power cut.
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try Schema.migrator.migrate(writer)
            let (state, keepsTombstones) = try writer.unsafeRead { (try HistoryState($0), try Self.keepsTombstones($0)) }
            history.withLock {
                $0 = state
                $0.retention = retention
            }
            tombstones.withLock { $0 = keepsTombstones }
            // A process that was killed may have left removed rows in the log. If this fails, they stay a little longer.
            try? writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            configuration.readonly = true
            configuration.journalMode = .default
            readers = try ReadConnections(path: file.path, configuration)
        } catch let error as DatabaseError where error.isDamage && !isSuspect {
            // The first check missed this damage. This one covers every page, and sets the file aside if necessary.
            try file.prepare(isSuspect: true, configuration)
            throw error
        }
    }

    /// Whether a call has found damaged pages. The next one opens the file again and checks it completely.
    package var isSuspect: Bool { suspicion.withLock { $0 } }

    /// Reads in one statement without a transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws(StorageError) -> Value {
        try withDamageDetection { try readers.read(body) }
    }

    /// Runs one immediate transaction. Either all of it is on disk when this returns, or none. Does not write to a suspect file, since an
    /// acknowledged write would be lost if the file is set aside.
    func write<Value>(_ body: (Database) throws -> (Value, Database.TransactionCompletion)) throws(StorageError) -> Value {
        try withDamageDetection {
            try writer.writeWithoutTransaction { database in
                if isSuspect { throw StorageError.failed("the keychain database must be checked first") }
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

    /// Overwrites remains of removed data: moves older pages in the log into the file and truncates the log. Also compacts an empty
    /// database; the copy for that is in memory.
    package func forgetOldPages(isEmpty: Bool = false) throws(StorageError) {
        try withDamageDetection {
            try writer.writeWithoutTransaction { database in
                // Free pages are already zeroed, so a failure is harmless.
                if isEmpty { try? database.execute(sql: "VACUUM") }
                _ = try database.checkpoint(.truncate)
            }
        }
    }

    /// Rebuilds SQLite's indexes from the rows. Throws if two rows violate a unique index.
    func rebuildIndexes() throws(StorageError) {
        try withDamageDetection { try writer.writeWithoutTransaction { try $0.execute(sql: "REINDEX") } }
    }

    /// Waits for running calls and admits no more. From then on the file contains everything that was acknowledged.
    package func close() throws(StorageError) {
        try withDamageDetection {
            try readers.close()
            try writer.close()
        }
    }

    /// Marks the file as suspect: nothing is written any more, and the next open checks all of it.
    func suspect() { suspicion.withLock { $0 = true } }

    /// Runs work on the file. Marks the file as suspect if SQLite finds damage.
    func withDamageDetection<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try body()
        } catch {
            if let error = error as? DatabaseError, error.isDamage { suspect() }
            throw StorageError(error, in: file.folder)
        }
    }
}
