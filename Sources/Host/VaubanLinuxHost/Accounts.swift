// Which user answers for a uid (Specs/owners.md). A local user with subordinate uids is one user, however many numbers the
// kernel shows: quotas and queues are kept for owners, never for uids.

package final class Accounts: Sendable {
    /// What is known of a uid without asking a name service.
    package enum Standing: Hashable, Sendable {
        /// A user of the system, or a number that root allows; `name` is nil for the latter.
        case known(name: String?)
        /// Of a range that was given to this owner.
        case subordinate(of: UInt32)
        /// No file says whose it is; the name service may know it.
        case unlisted
        /// Of systemd's range for users that exist for one service's run: the number is somebody else's tomorrow.
        case dynamic
    }

    /// Those whom no file names share what one owner may have, until the name service has named them. No user has this number.
    package static let unlistedOwner = UInt32.max
    /// systemd's range of dynamic users (`DynamicUser=`). They are one owner, its first number, apart from those whom no file names: a
    /// directory's user is one of these before the first answer, and a service's user must not take their share.
    package static let dynamicUIDs: ClosedRange<UInt32> = 61184...65519

    /// Those of `/etc`, read again when they change.
    package static let ofThisMachine = Accounts(folder: "/etc")

    private struct State {
        var files: AccountFiles
        /// Names that the name service gave, by uid.
        var confirmed: [UInt32: String] = [:]
        /// Those for whom a room vouched that has their names.
        var recognized: Set<UInt32> = []
    }

    private let state: ThreadMutex<State>

    /// `folder` stands for `/etc`; `filesOwner` for root, to whom the list of allowed uids must belong.
    package init(folder: String, filesOwner: UInt32 = 0) {
        state = ThreadMutex(State(files: AccountFiles(folder: folder, owner: filesOwner)))
    }

    /// The user whose share a uid's connections and derivations count against. Answers at once: it reads files, asks no
    /// service, and waits for nobody.
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

    /// The user's name, from the system's list or as the name service last gave it; nil where neither knows one.
    package func name(of uid: UInt32) -> String? {
        state.withLock { state in
            state.files.refresh()
            if case .known(let name?) = state.files.standing(of: uid) { return name }
            return state.confirmed[uid]
        }
    }

    /// The name to which what this uid keeps is bound: the user's, for a subordinate uid `subordinate:` and its owner's name in the
    /// system's list or else number, since what a name service says of an owner is known at some times and not at others; nil where
    /// there is none.
    package func holderName(of uid: UInt32) -> String? {
        guard case .subordinate(let owner) = standing(of: uid) else { return name(of: uid) }
        guard case .known(let name?) = standing(of: owner) else { return "subordinate:\(owner)" }
        return "subordinate:\(name)"
    }

    /// Takes a uid that no file lists for a user, since a room that asked the name service speaks for it.
    package func recognize(_ uid: UInt32) {
        state.withLock { state in
            state.files.refresh()
            if state.files.standing(of: uid) == .unlisted { state.recognized.insert(uid) }
        }
    }

    /// Remembers what the name service said of a uid that no file lists: its name, or nil that there is no such user. Only
    /// users of the machine are kept, so what is kept is as large as their number.
    package func confirm(_ uid: UInt32, name: String?) {
        state.withLock { $0.confirmed[uid] = name }
    }
}
