internal import Glibc
package import VaubanLinuxHost

/// The limits of open databases.
package struct DatabaseLimits: Hashable, Sendable {
    /// The descriptors of a database: the file and its log for the writer and for the first reader, the log's index, and the folder. Each
    /// further reader has two more, and exists only if requests have read at the same moment.
    private static let descriptorsOfDatabase = 6

    /// Databases that are open at once, and of these for one owner of uids. Descriptors must never run out, since Dispatch, on whose queues
    /// GRDB runs each connection, ends the process then: when work has waited for a second, its monitor of worker threads opens
    /// `/proc/TID/stat` for each of them, and takes any failure for a thread that ended by itself (`DISPATCH_CLIENT_CRASH`, "workq:
    /// registered worker exited prematurely", which is SIGILL). EMFILE is one such failure. Another was that Landlock denied that path in a
    /// room, which vauban_worker_state.c fixes; with that, opening the databases of 1,790 users, each with work for Dispatch, ended
    /// keychaind with 10,700 descriptors of the 16,384 that it had then.
    package let openMax: Int
    package let openPerOwnerMax: Int
    /// Descriptors kept for everything else: no database is opened into them.
    package let descriptorsKept: Int

    /// The limits of this room. If it has few descriptors, an eighth of them is reserved, and the rest determines the number of databases.
    package static var ofTheRoom: DatabaseLimits {
        var limit = rlimit()
        let descriptors =
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? Int(clamping: limit.rlim_cur) : Int.max
        let kept = min(512, descriptors / 8)
        return DatabaseLimits(
            openMax: min(512, max(1, (descriptors - kept) / descriptorsOfDatabase)), openPerOwnerMax: 16, descriptorsKept: kept)
    }

    package init(openMax: Int, openPerOwnerMax: Int, descriptorsKept: Int) {
        self.openMax = openMax
        self.openPerOwnerMax = openPerOwnerMax
        self.descriptorsKept = descriptorsKept
    }
}

/// The open databases, one for each user, each in its own folder. Opening and checking one does not block other users. Beyond the limit,
/// idle databases are closed, the least recently used first.
package final class DatabaseRegistry: Sendable {
    private let state: PrivateFolder
    private let pagesMax: Int?
    private let limits: DatabaseLimits
    private let owner: @Sendable (UInt32) -> UInt32
    private let holderName: @Sendable (UInt32) -> String?
    private let places = ThreadMutex<[UInt32: Place]>([:])
    /// The users with an open database and the times of its last use.
    private let uses = ThreadMutex(Uses())
    private let closing = ThreadMutex<Closing?>(nil)

    /// Completes the pending writes to a user's idle database before it closes.
    package typealias Closing = @Sendable (KeychainDatabase, UInt32) -> Void

    private struct Uses {
        var last: [UInt32: UInt64] = [:]
        var count: UInt64 = 0
    }

    /// Creates a registry.
    /// - Parameters:
    ///   - pagesMax: Simulates a full disk in tests.
    ///   - owner: Returns the uid that answers for a uid, of which it may have thousands (`/etc/subuid`).
    ///   - holderName: Returns the name to which a new folder of a user is bound; nil for none.
    package init(
        state: PrivateFolder, pagesMax: Int? = nil, limits: DatabaseLimits = .ofTheRoom,
        owner: @escaping @Sendable (UInt32) -> UInt32 = { $0 }, holderName: @escaping @Sendable (UInt32) -> String? = { _ in nil }
    ) {
        self.state = state
        self.pagesMax = pagesMax
        self.limits = limits
        self.owner = owner
        self.holderName = holderName
    }

    /// Sets the closure to call with each idle database before it closes, while no request can open it. The closure must not use the
    /// registry.
    package func beforeClosing(_ body: @escaping Closing) { closing.withLock { $0 = body } }

    /// The number of open databases.
    package var openCount: Int { uses.withLock { $0.last.count } }

    /// Returns the user's database, and creates it if there is none. Errors are not cached, so the next request succeeds once the user has
    /// removed the cause. The database stays open as long as the caller holds it.
    package func database(of user: UInt32) throws(StorageError) -> KeychainDatabase {
        try withPlace(of: user) { place in
            if let opened = place.opened, !opened.isSuspect {
                use(user)
                return opened
            }
            // Nothing may be written to a file that is being checked and may be set aside.
            try close(&place, of: user)
            try makeRoom(for: user)
            let folder = try folder(of: user)
            let database = try KeychainDatabase(
                folder: folder, isSuspect: place.isSuspect, pagesMax: pagesMax, closed: place.closedGenerations,
                retention: place.retention)
            place.opened = database
            place.isSuspect = false
            use(user)
            return database
        }
    }

    /// Calls `body` with a user's damaged database while no request can open it. Checks the whole file first.
    func whileDamaged<Value>(_ user: UInt32, _ body: (DatabaseFile) throws -> Value) throws(StorageError) -> Value {
        try withPlace(of: user) { place in
            // A query alone must not make a database unavailable that is in use.
            if let opened = place.opened, !opened.isSuspect { throw StorageError.notDamaged }
            try close(&place, of: user)
            let file = DatabaseFile(folder: try state.subfolder("\(user)", creating: true))
            do {
                try file.prepare(isSuspect: true, DatabaseFile.configuration(pagesMax: pagesMax))
            } catch StorageError.damaged {
                return try body(file)
            }
            throw StorageError.notDamaged
        }
    }

    /// Returns the user's folder. A new folder records its holder first. A folder without that record is from an earlier version, and is
    /// bound when its user connects.
    private func folder(of user: UInt32) throws -> PrivateFolder {
        let isNew = !state.contains("\(user)")
        let folder = try state.subfolder("\(user)", creating: true)
        if isNew, let name = holderName(user) { try StateHolder(uid: user, name: name).write(in: folder) }
        return folder
    }

    // MARK: Closing

    private func use(_ user: UInt32) {
        uses.withLock { uses in
            uses.count += 1
            uses.last[user] = uses.count
        }
    }

    /// Closes an open database and keeps what the next one for this user needs.
    private func close(_ place: inout Place.State, of user: UInt32) throws {
        guard let opened = place.opened else { return }
        if opened.isSuspect { place.isSuspect = true }
        try opened.close()
        place.closedGenerations = opened.closed.withLock { $0 }
        place.retention = opened.history.withLock(\.retention)
        place.opened = nil
        uses.withLock { $0.last[user] = nil }
    }

    /// Closes idle databases until another one can be opened. Throws if all are in use.
    private func makeRoom(for user: UInt32) throws {
        let owner = owner(user)
        while count(of: owner) >= limits.openPerOwnerMax {
            guard closeIdle(where: { self.owner($0) == owner }) else { throw StorageError.busy }
        }
        // Databases beyond an owner's first one must leave room for other owners, however many owners have them.
        while true {
            let own = count(of: owner)
            if own == 0 || ConnectionLimits.freeForEach * (own + 1) <= limits.openMax - openCount { break }
            guard closeIdle(where: { _ in true }) else { throw StorageError.busy }
        }
        while openCount >= limits.openMax || isShortOfDescriptors { guard closeIdle(where: { _ in true }) else { throw StorageError.busy } }
    }

    private func count(of owner: UInt32) -> Int { uses.withLock { uses in uses.last.keys.count { self.owner($0) == owner } } }

    /// Closes the least recently used of the eligible databases that no request holds. Returns false if there is none.
    private func closeIdle(where isMeant: (UInt32) -> Bool) -> Bool {
        let users = uses.withLock { $0.last.sorted { $0.value < $1.value }.map(\.key) }
        return users.contains { isMeant($0) && closeIfIdle($0) }
    }

    /// Closes a database if it is idle. A place whose lock is taken is in use, and waiting for it could deadlock with this thread. Under
    /// the lock no request can start to use the database, and the reference count shows present uses.
    private func closeIfIdle(_ user: UInt32) -> Bool {
        let isClosed = place(of: user).state.withLockIfAvailable { place in
            guard place.opened != nil, isKnownUniquelyReferenced(&place.opened) else { return false }
            if let opened = place.opened, !opened.isSuspect, let finish = closing.withLock({ $0 }) { finish(opened, user) }
            return (try? close(&place, of: user)) != nil && place.opened == nil
        }
        return isClosed ?? false
    }

    /// Whether descriptors are nearly used up. The kernel assigns the lowest free number, so a high number means that all lower ones are
    /// taken. A low number means little, since closed descriptors leave gaps.
    private var isShortOfDescriptors: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        let number = fcntl(state.descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { return true }
        Glibc.close(number)
        return UInt64(number) + UInt64(limits.descriptorsKept) >= UInt64(limit.rlim_cur)
    }

    // MARK: Places

    /// Calls `body` under the lock of the user's place.
    private func withPlace<Value>(
        of user: UInt32, _ body: (inout Place.State) throws -> Value
    ) throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = place(of: user).state.withLock { place in
            do {
                return .success(try body(&place))
            } catch {
                return .failure(StorageError(error, in: self.state))
            }
        }
        return try result.get()
    }

    private func place(of user: UInt32) -> Place {
        places.withLock { places in
            if let place = places[user] { return place }
            let place = Place()
            places[user] = place
            return place
        }
    }

    /// One user's database and the lock under which it is opened.
    private final class Place: Sendable {
        struct State {
            var opened: KeychainDatabase?
            /// Whether damage was found and the file was not checked since.
            var isSuspect = false
            /// Class keys that were closed for good (`KeychainDatabase.closed`), kept for as long as the process runs.
            var closedGenerations: Set<RowGeneration> = []
            /// The time by which deleted items expire. A database that is opened again is not a new start of the process.
            var retention: RetentionTime?
        }

        let state = ThreadMutex(State())
    }
}
