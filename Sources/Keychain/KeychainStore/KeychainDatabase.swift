internal import Foundation
internal import GRDB
internal import Synchronization
package import VaubanLinuxHost

/// One person's items on disk. Every call runs on the thread that makes it. One connection writes and one reads, so that
/// a read never waits for another's write to reach the disk; GRDB's pool does the same, but asks for the schema's version
/// at each read, which cost a quarter of a look-up.
package final class KeychainDatabase: Sendable {
    /// Closed first, so that the writer is the last one and moves its log into the file.
    private let reader: DatabaseQueue
    private let writer: DatabaseQueue
    var path: String { writer.path }
    private let suspicion = Mutex(false)
    /// The index keys that are known to be those of the file.
    let indexKeys = Mutex<[Int64: [UInt8]]>([:])

    /// Opens the database in a person's folder, and makes it if there is none.
    package init(folder: PrivateFolder, isSuspect: Bool = false, pagesMax: Int? = nil) throws {
        let file = DatabaseFile(folder: folder)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // What is deleted is overwritten; a file that someone prepared can run nothing; what SQLite sorts stays in memory,
            // since this process can make no file elsewhere.
            try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY")
            if let pagesMax { try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
        }
        do {
            try file.prepare(isSuspect: isSuspect, configuration)
            configuration.journalMode = .wal
            writer = try DatabaseQueue(path: file.path, configuration: configuration)
            // With WAL comes NORMAL by itself, which would lose the last writes in a power cut.
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try Schema.migrator.migrate(writer)
            configuration.readonly = true
            configuration.journalMode = .default
            reader = try DatabaseQueue(path: file.path, configuration: configuration)
        } catch let error as DatabaseError where error.isDamage && !isSuspect {
            // Damage that the first look did not meet: look at every page, which puts the file aside if it is so.
            try file.prepare(isSuspect: true, configuration)
            throw error
        }
    }

    /// A call has met damaged pages; the next one opens the file anew and looks at all of it.
    package var isSuspect: Bool { suspicion.withLock { $0 } }

    /// Reads in one statement, without a transaction around it.
    func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
        try watching { try reader.unsafeRead(body) }
    }

    /// One immediate transaction: all of it is on disk when this returns, or none.
    func write<Value>(_ body: (Database) throws -> (Value, Database.TransactionCompletion)) throws(StorageFault) -> Value {
        try watching {
            try writer.writeWithoutTransaction { database in
                var value: Value?
                try database.inTransaction(.immediate) {
                    let (result, completion) = try body(database)
                    value = result
                    return completion
                }
                guard let value else { throw StorageFault.failed("a transaction gave no result") }
                return value
            }
        }
    }

    private func watching<Value>(_ body: () throws -> Value) throws(StorageFault) -> Value {
        do {
            return try body()
        } catch {
            if let error = error as? DatabaseError, error.isDamage { suspicion.withLock { $0 = true } }
            throw StorageFault(error)
        }
    }
}
