internal import GRDB
internal import Synchronization
internal import VaubanLinuxHost

/// The connections that read a user's database. The first is opened together with the database, and others, up to `countMax`, when a
/// request finds all connections busy.
final class ReadConnections: Sendable {
    private static let countMax = 4

    private struct Place {
        var connection: DatabaseQueue?
        var isClosed = false
    }

    /// A reader's lock precedes GRDB's queue, which would pass the connection to a sleeping thread.
    private final class Reader: Sendable {
        let place: ThreadMutex<Place>
        init(_ connection: DatabaseQueue?) { place = ThreadMutex(Place(connection: connection)) }
    }

    private let readers: [Reader]
    /// Counts the reads that found every connection busy. Each waits for a different one, so that a long read delays few others.
    private let waits = Atomic<UInt>(0)
    private let path: String
    private let configuration: Configuration

    init(path: String, _ configuration: Configuration) throws {
        self.path = path
        self.configuration = configuration
        readers = [Reader(try DatabaseQueue(path: path, configuration: configuration))] + (1..<Self.countMax).map { _ in Reader(nil) }
    }

    /// Calls `body` with a free connection, or waits for one. Every connection sees all transactions that were committed before.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var answer: Value?
        let isRead = try readers.contains { reader in
            try reader.place.withLockIfAvailable { place in
                guard let connection = connection(in: &place) else { return false }
                answer = try connection.unsafeRead(body)
                return true
            } ?? false
        }
        if !isRead {
            // The first connection always exists.
            for reader in [nextToWaitFor, readers[0]] where answer == nil {
                try reader.place.withLock { place in answer = try connection(in: &place)?.unsafeRead(body) }
            }
        }
        guard let answer else { throw StorageError.failed("the database is closed") }
        return answer
    }

    private var nextToWaitFor: Reader { readers[Int(waits.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(Self.countMax))] }

    /// Returns the place's connection; nil if none can be opened, for example for lack of descriptors. The other connections then serve the
    /// read.
    private func connection(in place: inout Place) -> DatabaseQueue? {
        guard !place.isClosed else { return nil }
        if place.connection == nil { place.connection = try? DatabaseQueue(path: path, configuration: configuration) }
        return place.connection
    }

    /// Waits for running reads.
    func close() throws {
        for reader in readers {
            try reader.place.withLock { place in
                place.isClosed = true
                try place.connection?.close()
            }
        }
    }
}
