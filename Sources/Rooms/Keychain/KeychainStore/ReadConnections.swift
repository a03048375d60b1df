internal import GRDB
internal import Synchronization
internal import VaubanLinuxHost

/// The connections that read a user's database. The first is opened with it, and others, up to `countMax`, when a request finds all of them
/// busy.
final class ReadConnections: Sendable {
    private static let countMax = 4

    private struct Place {
        var connection: DatabaseQueue?
        var isClosed = false
    }

    /// Its lock is in front of GRDB's queue, which would hand over to sleeping threads.
    private final class Reader: Sendable {
        let place: ThreadMutex<Place>
        init(_ connection: DatabaseQueue?) { place = ThreadMutex(Place(connection: connection)) }
    }

    private let readers: [Reader]
    /// Counts the reads that found every connection busy; each waits for another one, so that a long read holds up few.
    private let waits = Atomic<UInt>(0)
    private let path: String
    private let configuration: Configuration

    init(path: String, _ configuration: Configuration) throws {
        self.path = path
        self.configuration = configuration
        readers = [Reader(try DatabaseQueue(path: path, configuration: configuration))] + (1..<Self.countMax).map { _ in Reader(nil) }
    }

    /// Calls `body` with a free connection, or waits for one. Every connection sees everything committed before.
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
            // The first connection is always there.
            for reader in [nextToWaitFor, readers[0]] where answer == nil {
                try reader.place.withLock { place in answer = try connection(in: &place)?.unsafeRead(body) }
            }
        }
        guard let answer else { throw StorageError.failed("the database is closed") }
        return answer
    }

    private var nextToWaitFor: Reader { readers[Int(waits.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(Self.countMax))] }

    /// Returns the place's connection; nil if none can be opened, perhaps for lack of descriptors. The others serve then.
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
