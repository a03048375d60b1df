internal import Glibc
package import VaubanLinuxHost

/// How many databases are open at once.
package struct DatabaseLimits: Hashable, Sendable {
    /// Databases that are open at once, and of these for one owner of uids. Each holds six descriptors: the file and its log for
    /// the writer and for the first reader, the log's index, and the folder; and two for each further reader, of which there is one
    /// only where requests have read at the same moment. Descriptors must never run out, since Dispatch, on whose
    /// queues GRDB runs each connection, ends the process then: when work has waited for a second, its monitor of worker
    /// threads opens `/proc/TID/stat` for each of them, and takes any failure for a thread that ended by itself
    /// (`DISPATCH_CLIENT_CRASH`, "workq: registered worker exited prematurely", which is SIGILL). EMFILE is one such failure. Another
    /// was that Landlock denied that path in a room, which vauban_worker_state.c mends; so 1,790 users whose databases were opened,
    /// each with work for Dispatch, ended keychaind with 10,700 descriptors of the 16,384 that it had then.
    package let openMax: Int
    package let openPerOwnerMax: Int
    /// Descriptors that are left to everything else: no database is opened into them.
    package let descriptorsKept: Int

    /// Where the machine gives the room few descriptors, an eighth of them is kept.
    package static var ofTheRoom: DatabaseLimits {
        var limit = rlimit()
        let hasLimit = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return DatabaseLimits(
            openMax: 512, openPerOwnerMax: 16, descriptorsKept: hasLimit ? min(512, Int(clamping: limit.rlim_cur) / 8) : 512)
    }

    package init(openMax: Int, openPerOwnerMax: Int, descriptorsKept: Int) {
        self.openMax = openMax
        self.openPerOwnerMax = openPerOwnerMax
        self.descriptorsKept = descriptorsKept
    }
}

/// The open databases, one a user, each in a folder of its own. Opening and checking one holds up no other user. Those that
/// nobody uses are closed when there are too many, the least recently used first.
package final class DatabaseRegistry: Sendable {
    private let state: PrivateFolder
    private let pagesMax: Int?
    private let limits: DatabaseLimits
    private let owner: @Sendable (UInt32) -> UInt32
    private let holderName: @Sendable (UInt32) -> String?
    private let places = ThreadMutex<[UInt32: Place]>([:])
    /// Who has an open database, by the time of its last use.
    private let uses = ThreadMutex(Uses())

    private struct Uses {
        var last: [UInt32: UInt64] = [:]
        var count: UInt64 = 0
    }

    /// - Parameters:
    ///   - pagesMax: stands for a full disk where a test needs one.
    ///   - owner: the uid that answers for a uid, of which it may have thousands (`/etc/subuid`).
    ///   - holderName: the name to which a user's folder is bound when it is made; nil where it is bound to none.
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

    /// How many databases are open.
    package var openCount: Int { uses.withLock { $0.last.count } }

    /// The user's database, made if there never was one. A fault is not remembered: what a user has put right
    /// works at the next request. It stays open for as long as the answer is held.
    package func database(of user: UInt32) throws(StorageError) -> KeychainDatabase {
        try withPlace(of: user) { place in
            if let opened = place.opened, !opened.isSuspect {
                use(user)
                return opened
            }
            // Nothing may be written to a file that is looked at and perhaps put aside.
            try close(&place, of: user)
            try makeRoom(for: user)
            let folder = try folder(of: user)
            let database = try KeychainDatabase(
                folder: folder, isSuspect: place.isSuspect, pagesMax: pagesMax, closed: place.closedGenerations)
            place.opened = database
            place.isSuspect = false
            use(user)
            return database
        }
    }

    /// Does something about a user's database that is put aside, while nobody can open it. All of it is looked at first.
    func whileDamaged<Value>(_ user: UInt32, _ body: (DatabaseFile) throws -> Value) throws(StorageError) -> Value {
        try withPlace(of: user) { place in
            // Where it serves, a mere question takes it away from nobody.
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

    /// The user's folder. One that is made says whose it is before anything else lies in it; what is there without that was made
    /// by an earlier version, and is bound when its user comes.
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

    /// Closes what is open, and keeps what its successor must know.
    private func close(_ place: inout Place.State, of user: UInt32) throws {
        guard let opened = place.opened else { return }
        if opened.isSuspect { place.isSuspect = true }
        try opened.close()
        place.closedGenerations = opened.closed.withLock { $0 }
        place.opened = nil
        uses.withLock { $0.last[user] = nil }
    }

    /// Closes idle databases until another one can be opened; refused where all are in use.
    private func makeRoom(for user: UInt32) throws {
        let owner = owner(user)
        while count(of: owner) >= limits.openPerOwnerMax {
            guard closeIdle(where: { self.owner($0) == owner }) else { throw StorageError.busy }
        }
        // What one owner takes beyond a first one leaves room for the others, however many owners do so.
        while true {
            let own = count(of: owner)
            if own == 0 || ConnectionLimits.freeForEach * (own + 1) <= limits.openMax - openCount { break }
            guard closeIdle(where: { _ in true }) else { throw StorageError.busy }
        }
        while openCount >= limits.openMax || isShortOfDescriptors { guard closeIdle(where: { _ in true }) else { throw StorageError.busy } }
    }

    private func count(of owner: UInt32) -> Int { uses.withLock { uses in uses.last.keys.count { self.owner($0) == owner } } }

    /// Closes the database that was not used for longest, of those that are meant and that no request holds. False when there is none.
    private func closeIdle(where isMeant: (UInt32) -> Bool) -> Bool {
        let people = uses.withLock { $0.last.sorted { $0.value < $1.value }.map(\.key) }
        return people.contains { isMeant($0) && closeIfIdle($0) }
    }

    /// A place whose lock is taken is being used, and waiting for it could wait for this thread. Under the lock nobody comes to
    /// hold the database; whoever holds it already shows in its count.
    private func closeIfIdle(_ user: UInt32) -> Bool {
        let isClosed = place(of: user).state.withLockIfAvailable { place in
            guard place.opened != nil, isKnownUniquelyReferenced(&place.opened) else { return false }
            return (try? close(&place, of: user)) != nil && place.opened == nil
        }
        return isClosed ?? false
    }

    /// The kernel gives the lowest number that is free: so a high one says that all below it are taken.
    private var isShortOfDescriptors: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        let number = fcntl(state.descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { return true }
        Glibc.close(number)
        return UInt64(number) + UInt64(limits.descriptorsKept) >= UInt64(limit.rlim_cur)
    }

    // MARK: Places

    /// Does something under the lock of the user's place.
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

    /// Where one user's database is held, and the lock under which it is opened.
    private final class Place: Sendable {
        struct State {
            var opened: KeychainDatabase?
            /// Damage was met, and the file was not looked at since.
            var isSuspect = false
            /// Class keys that were closed for good (`KeychainDatabase.closed`), for as long as the process lives.
            var closedGenerations: Set<RowGeneration> = []
        }

        let state = ThreadMutex(State())
    }
}
