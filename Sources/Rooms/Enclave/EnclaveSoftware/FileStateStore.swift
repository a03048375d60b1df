package import Enclave
import Glibc
package import VaubanLinuxHost

/// Users' state as files: `people/UID/keybag`, `attempts`, `circle` and `log`.
package struct FileStateStore: StateStore {
    package static let folderName = "people"
    private let folder: any StateFolder
    private let holderName: @Sendable (UInt32) -> String?
    private let durableNames = DurableNames()

    /// Creates a store. `holderName` returns the user name to which a new folder is bound; nil for none.
    package init(in folder: any StateFolder, holderName: @escaping @Sendable (UInt32) -> String? = { _ in nil }) {
        self.folder = folder
        self.holderName = holderName
    }

    /// Returns the check that each user's folder belongs to that user.
    package func holders(_ accounts: Accounts) -> StateHolders {
        StateHolders(accounts: accounts) { [folder] () throws(PrivateFolder.OpeningError) in
            guard folder.contains(Self.folderName) else { return nil }
            return try folder.subfolder(Self.folderName, creating: false)
        }
    }

    package func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        try attempt { () throws(PrivateFolder.OpeningError) -> [UInt8]? in
            guard let place = try place(of: user) else { return nil }
            return try systemFault { () throws(SystemError) -> [UInt8]? in
                guard case .bytes(let bytes) = try DurableFile(name.rawValue, in: place).read(max: max, syncing: true) else { return nil }
                return bytes
            }
        }
    }

    package func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        try attempt { () throws(PrivateFolder.OpeningError) in
            let place = try makePlace(of: user)
            try systemFault { () throws(SystemError) in try DurableFile(name.rawValue, in: place).replace(with: bytes) }
        }
    }

    package func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String {
        guard let place = try attempt({ () throws(PrivateFolder.OpeningError) in try place(of: user) }) else {
            throw .failed("the state folder does not exist")
        }
        return try attempt { () throws(PrivateFolder.OpeningError) in
            try systemFault { () throws(SystemError) in try DurableFile(name.rawValue, in: place).quarantine() }
        }
    }

    package func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] {
        // Throws if the folder cannot be listed. Treating that as empty would let an empty file replace the one that was set aside.
        let names = try attempt { () throws(PrivateFolder.OpeningError) -> [String] in
            guard let place = try place(of: user) else { return [] }
            return try systemFault { () throws(SystemError) in try place.names() }
        }
        return names.filter { $0.hasPrefix("\(name.rawValue).quarantined-") }.sorted()
    }

    /// Returns the user's folder if it exists. Makes its name durable first, since its content is relied on from then on.
    private func place(of user: UInt32) throws(PrivateFolder.OpeningError) -> (any StateFolder)? {
        guard folder.contains(Self.folderName) else { return nil }
        let users = try folder.subfolder(Self.folderName, creating: false)
        guard users.contains("\(user)") else { return nil }
        let place = try users.subfolder("\(user)", creating: false)
        try keepNames(in: users, of: user)
        return place
    }

    private func makePlace(of user: UInt32) throws(PrivateFolder.OpeningError) -> any StateFolder {
        let isOld = folder.contains(Self.folderName)
        let users = try folder.subfolder(Self.folderName, creating: true)
        // The name of a new folder is not durable, even if that of an earlier one was.
        if !isOld || !users.contains("\(user)") { durableNames.remove(user) }
        let place = try users.subfolder("\(user)", creating: true)
        // This file is written first, so a folder without it was created by an earlier version.
        if let name = holderName(user), !place.contains(StateHolder.fileName) {
            try systemFault { () throws(SystemError) in try StateHolder(uid: user, name: name).write(in: place) }
        }
        try keepNames(in: users, of: user)
        return place
    }

    /// Makes the folders' names durable before the files in them. Once is enough in a process, since a write in the folder does not change
    /// its name.
    private func keepNames(in users: any StateFolder, of user: UInt32) throws(PrivateFolder.OpeningError) {
        guard !durableNames.contains(user) else { return }
        try systemFault { () throws(SystemError) in
            try users.sync()
            try folder.sync()
        }
        durableNames.insert(user)
    }

    private func systemFault<Value>(_ body: () throws(SystemError) -> Value) throws(PrivateFolder.OpeningError) -> Value {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }

    private func attempt<Value>(_ body: () throws(PrivateFolder.OpeningError) -> Value) throws(StateError) -> Value {
        do throws(PrivateFolder.OpeningError) { return try body() } catch {
            guard case .system(let systemError) = error else { throw .failed(error.description) }
            if systemError.isUnsure { throw .unsure(systemError.description) }
            throw systemError.isFullDisk ? .full : .failed(systemError.description)
        }
    }
}

/// The users whose folders' names this process has made durable.
private final class DurableNames: Sendable {
    private let users = ThreadMutex<Set<UInt32>>([])

    func contains(_ user: UInt32) -> Bool { users.withLock { $0.contains(user) } }
    func insert(_ user: UInt32) { users.withLock { _ = $0.insert(user) } }
    func remove(_ user: UInt32) { users.withLock { _ = $0.remove(user) } }
}

/// The machine's clocks.
package struct SystemClock: EnclaveClock {
    package init() {}
    package var boot: UInt64 { MachineClock.boot }
    package var monotonic: UInt64 { MachineClock.monotonic }
    package var referenceMicroseconds: Int64 { MachineClock.referenceMicroseconds }
}
