// Records which user a state folder belongs to. Uids are reused, and the next user with a number must not get the previous user's keychain
// (Specs/owners.md, section 5).

internal import VaubanPlainText
package import VaubanRefusal

/// The file `holder` in a user's state folder: `vauban holder 1`, then the uid and the name of the user for whom the folder was created.
package struct StateHolder: Hashable, Sendable {
    package static let fileName = "holder"
    private static let heading = "vauban holder 1"
    private static let bytesMax = 1024

    package let uid: UInt32
    package let name: String

    package init(uid: UInt32, name: String) {
        self.uid = uid
        self.name = name
    }

    package var text: String { "\(Self.heading)\n\(uid) \(name)\n" }

    package init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0] == Self.heading, lines[2].isEmpty else { return nil }
        let words = lines[1].split(separator: " ", maxSplits: 1)
        guard words.count == 2, let uid = UInt32(digits: words[0]) else { return nil }
        self.init(uid: uid, name: String(words[1]))
    }

    /// Returns the holder of a user's folder; nil if it records none, like a folder of an earlier version.
    package static func read(in folder: some StateFolder) throws(Refusal) -> StateHolder? {
        let content: DurableFile.Content
        do throws(SystemError) { content = try DurableFile(fileName, in: folder).read(max: bytesMax) } catch {
            throw Refusal(.stateUnreadable, error.description)
        }
        guard case .bytes(let bytes) = content else { return nil }
        guard let holder = StateHolder(text: String(decoding: bytes, as: UTF8.self)) else {
            throw Refusal(
                .stateUnreadable,
                "\(folder.path)/\(fileName) does not name the holder of this keychain; root can repair that with: vauban-state keep")
        }
        return holder
    }

    /// Returns if the folder is this user's. Binds a folder without a recorded holder to the user.
    /// - Throws: `notAllowedHere` with what root can do if the folder is another user's; `stateUnreadable` if that cannot be determined.
    package static func verify(_ folder: some StateFolder, uid: UInt32, name: String) throws(Refusal) {
        guard let holder = try read(in: folder) else {
            do throws(SystemError) { try StateHolder(uid: uid, name: name).write(in: folder) } catch {
                // On a full disk the folder is bound at its next use, since its content belonged to this user before bindings existed.
                return
            }
            return
        }
        guard holder == StateHolder(uid: uid, name: name) else {
            throw Refusal(
                .notAllowedHere,
                """
                The keychain of user number \(uid) was made for \(shown(holder.name)), not for \(shown(name)); root decides: \
                vauban-state keep \(uid), if this is the same user, or vauban-state set-aside \(uid)
                """
            )
        }
    }

    private static func shown(_ name: String) -> String { PlainLine.of(name, charactersMax: 64) }

    package func write(in folder: some StateFolder) throws(SystemError) {
        try DurableFile(Self.fileName, in: folder).replace(with: Array(text.utf8))
    }
}

/// The folders that were verified as their users'.
package final class StateHolders: Sendable {
    private let users: @Sendable () throws(PrivateFolder.OpeningError) -> (any StateFolder)?
    private let accounts: Accounts
    private let verified = ThreadMutex<[UInt32: String]>([:])

    /// Creates a cache. `users` returns the folder that contains one folder for each user, by uid; nil while there is none.
    package init(accounts: Accounts, users: @escaping @Sendable () throws(PrivateFolder.OpeningError) -> (any StateFolder)?) {
        self.users = users
        self.accounts = accounts
    }

    /// Returns if this user's state folder is theirs, or if there is none. A uid without a name has nothing to which a folder could be
    /// bound.
    package func verify(_ uid: UInt32) throws(Refusal) {
        guard let name = accounts.holderName(of: uid), verified.withLock({ $0[uid] }) != name else { return }
        let place: any StateFolder
        do throws(PrivateFolder.OpeningError) {
            guard let folder = try users(), folder.contains("\(uid)") else { return }
            place = try folder.subfolder("\(uid)", creating: false)
        } catch {
            throw Refusal(.stateUnreadable, error.description)
        }
        try StateHolder.verify(place, uid: uid, name: name)
        verified.withLock { $0[uid] = name }
    }
}
