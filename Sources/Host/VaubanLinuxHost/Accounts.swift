// Determines the user who is responsible for a uid (Specs/owners.md). A local user with subordinate uids is one user, whatever their
// number: quotas and queues belong to owners, never to uids.

package final class Accounts: Sendable {
    /// The kind of a uid, as far as it is known without a query to a name service.
    package enum Standing: Hashable, Sendable {
        /// A user of the system, or a number that root allows; `name` is nil for the latter.
        case known(name: String?)
        /// A uid in a range that was given to this owner.
        case subordinate(of: UInt32)
        /// A uid in no file; the name service may know it.
        case unlisted
        /// A uid of systemd's range for users that exist only while a service runs. Another service may get it later.
        case dynamic
    }

    /// The owner of all uids that no file lists, until the name service has named them. No user has this number.
    package static let unlistedOwner = UInt32.max
    /// systemd's range of dynamic users (`DynamicUser=`). They count as one owner, the first number, separate from unlisted uids: a
    /// directory's user is unlisted before the first reply, and a service's user must not use up that owner's share.
    package static let dynamicUIDs: ClosedRange<UInt32> = 61184...65519

    /// The accounts of `/etc`, read again when they change.
    package static let ofThisMachine = Accounts(folder: "/etc")

    private struct State {
        var files: AccountFiles
        /// The names from the name service, by uid.
        var confirmed: [UInt32: String] = [:]
        /// The uids confirmed by a room that has access to their names.
        var recognized: Set<UInt32> = []
    }

    private let state: ThreadMutex<State>

    /// Creates the accounts of a folder, which tests pass instead of `/etc`. `filesOwner` must own the list of allowed uids; tests pass a
    /// user other than root.
    package init(folder: String, filesOwner: UInt32 = 0) {
        state = ThreadMutex(State(files: AccountFiles(folder: folder, owner: filesOwner)))
    }

    /// Returns the user whose share the connections and derivations of a uid count against. Returns at once, since it reads files and
    /// queries no service.
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

    /// Returns the user's name, from the system's list or from the name service's last reply; nil if neither has one.
    package func name(of uid: UInt32) -> String? {
        state.withLock { state in
            state.files.refresh()
            if case .known(let name?) = state.files.standing(of: uid) { return name }
            return state.confirmed[uid]
        }
    }

    /// Returns the name to which a uid's state is bound; nil if there is none. For a subordinate uid this is `subordinate:` and the owner's
    /// name in the system's list, or the owner's number if it is not listed. Names from a name service are not used for owners, since they
    /// can change.
    package func holderName(of uid: UInt32) -> String? {
        guard case .subordinate(let owner) = standing(of: uid) else { return name(of: uid) }
        guard case .known(let name?) = standing(of: owner) else { return "subordinate:\(owner)" }
        return "subordinate:\(name)"
    }

    /// Returns the name service's last reply about a uid that no file lists; nil for any other uid, or if there is no reply.
    package func confirmedName(of uid: UInt32) -> String? {
        state.withLock { state in
            state.files.refresh()
            return state.files.standing(of: uid) == .unlisted ? state.confirmed[uid] : nil
        }
    }

    /// Accepts an unlisted uid as a user, since a room that queried the name service has confirmed it, and stores the name that it found.
    package func recognize(_ uid: UInt32, name: String? = nil) {
        state.withLock { state in
            state.files.refresh()
            guard state.files.standing(of: uid) == .unlisted else { return }
            state.recognized.insert(uid)
            if let name { state.confirmed[uid] = name }
        }
    }

    /// Stores the name service's reply about an unlisted uid: its name, or nil if there is no such user. Only existing users are stored,
    /// which bounds the memory.
    package func confirm(_ uid: UInt32, name: String?) {
        state.withLock { $0.confirmed[uid] = name }
    }
}
