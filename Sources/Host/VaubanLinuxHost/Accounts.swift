// The user who is responsible for a uid (Specs/owners.md). A local user with subordinate uids is one user, however many numbers the kernel
// shows: quotas and queues belong to owners, never to uids.

package final class Accounts: Sendable {
    /// The kind of a uid, known without querying a name service.
    package enum Standing: Hashable, Sendable {
        /// A user of the system, or a number that root allows; `name` is nil for the latter.
        case known(name: String?)
        /// A uid in a range that was given to this owner.
        case subordinate(of: UInt32)
        /// A uid in no file; the name service may know it.
        case unlisted
        /// A uid of systemd's range for users that exist only while a service runs: it may belong to another service tomorrow.
        case dynamic
    }

    /// Uids that no file names share one owner's limits until the name service has named them. No user has this number.
    package static let unlistedOwner = UInt32.max
    /// systemd's range of dynamic users (`DynamicUser=`). They are one owner, its first number, apart from uids that no file names: a
    /// directory's user is one of the latter before the first reply, and a service's user must not use up their share.
    package static let dynamicUIDs: ClosedRange<UInt32> = 61184...65519

    /// The accounts of `/etc`, read again when they change.
    package static let ofThisMachine = Accounts(folder: "/etc")

    private struct State {
        var files: AccountFiles
        /// Names that the name service gave, by uid.
        var confirmed: [UInt32: String] = [:]
        /// Uids confirmed by a room that has their names.
        var recognized: Set<UInt32> = []
    }

    private let state: ThreadMutex<State>

    /// `folder` replaces `/etc` in tests; `filesOwner` replaces root, who must own the list of allowed uids.
    package init(folder: String, filesOwner: UInt32 = 0) {
        state = ThreadMutex(State(files: AccountFiles(folder: folder, owner: filesOwner)))
    }

    /// Returns the user whose share a uid's connections and derivations count against. Returns at once: it reads files and queries no
    /// service.
    package func owner(of uid: UInt32) -> UInt32 {
        state.withLock { state in
            state.files.refresh()
            if let line = state.files.allowed.line(of: uid) { return line.owner(of: uid) }
            switch state.files.standing(of: uid) {
            case .known: return uid
            case .subordinate(let owner): return owner
            case .dynamic: return Self.dynamicUIDs.lowerBound
            case .unlisted: return state.confirmed[uid] != nil || state.recognized.contains(uid) ? uid : Self.unlistedOwner
            }
        }
    }

    package func standing(of uid: UInt32) -> Standing {
        state.withLock { state in
            state.files.refresh()
            return state.files.standing(of: uid)
        }
    }

    /// Returns the user's name, from the system's list or as the name service last gave it; nil if neither knows one.
    package func name(of uid: UInt32) -> String? {
        state.withLock { state in
            state.files.refresh()
            if case .known(let name?) = state.files.standing(of: uid) { return name }
            return state.confirmed[uid]
        }
    }

    /// Returns the name to which a uid's state is bound; nil if there is none. For a subordinate uid this is `subordinate:` and its owner's
    /// name in the system's list or otherwise number, since what a name service knows of an owner can change.
    package func holderName(of uid: UInt32) -> String? {
        guard case .subordinate(let owner) = standing(of: uid) else { return name(of: uid) }
        guard case .known(let name?) = standing(of: owner) else { return "subordinate:\(owner)" }
        return "subordinate:\(name)"
    }

    /// Accepts a uid that no file lists as a user, since a room that asked the name service vouches for it.
    package func recognize(_ uid: UInt32) {
        state.withLock { state in
            state.files.refresh()
            if state.files.standing(of: uid) == .unlisted { state.recognized.insert(uid) }
        }
    }

    /// Remembers the name service's reply about a uid that no file lists: its name, or nil if there is no such user. Only users of the
    /// machine are stored, so the storage grows with their number.
    package func confirm(_ uid: UInt32, name: String?) {
        state.withLock { $0.confirmed[uid] = name }
    }
}
