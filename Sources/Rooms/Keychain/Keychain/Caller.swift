// Who a request is from, as far as this room decides by it (Specs/access-groups.md).

package import EnclaveWire
package import VaubanAccessPolicy
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanUserModel

/// The caller of one connection, as it was found before the first word was said to it.
package struct Caller: Sendable {
    package let user: UInt32
    /// Nil in user mode, where every program of the user is one owner.
    package let identity: CallerIdentity?
    /// What root has granted the program.
    package let entitlements: Entitlements?
    /// What the user has said yes to on this connection, for as long as it lasts.
    let said = ConnectionConsents()

    /// Of user mode.
    package init(user: UInt32) {
        self.user = user
        identity = nil
        entitlements = nil
    }

    package init(user: UInt32, identity: CallerIdentity, granted table: EntitlementTable) {
        self.user = user
        self.identity = identity
        entitlements = identity.application.flatMap { table.entitlements(of: $0) }
    }
}

/// Yeses that hold for one connection: a list of all owners is one search for each class of items, and many items are given
/// to an owner in many batches.
final class ConnectionConsents: Sendable {
    let toListOwners = ThreadMutex(false)
    /// By the bytes of the owner.
    let moves = ThreadMutex<[[UInt8]: ItemMove]>([:])
    /// A yes that found no item of the class in which it was asked for.
    let unused = ThreadMutex<PendingConsent?>(nil)
}

/// Whose items a caller's are, for the length of one request.
package struct CallerRights: Hashable, Sendable {
    /// The groups whose items are the caller's own, in order.
    package let groups: [String]
    /// The group of what it adds without naming one; nil when it may add nothing.
    package let defaultGroup: String?
    /// Groups that may be named though no item there is the caller's own: reading one takes the user's yes.
    package let shared: [String]
    /// Another owner's group that may be named in a search, since that owner lets this program ask for items in it.
    private var offering: String?
    /// User mode: every group is a label.
    package let ownsEverything: Bool
    /// It has no identity of its own: what others keep can be asked for, and the user decides.
    package let asks: Bool
    /// Under which name the user's permissions for it are kept; nil where there is no name to go by.
    package let key: String?
    /// Whether it is the user's own hand.
    package let isCommandLine: Bool

    package static let everything = CallerRights(
        groups: [], defaultGroup: AccessGroup.unsigned, shared: [], ownsEverything: true, asks: false, key: nil, isCommandLine: true)

    /// `application` is what the program is taken for: for a new build that the user accepted, the earlier one.
    package init(_ identity: CallerIdentity, _ entitlements: Entitlements?, application: ApplicationIdentifier?) {
        isCommandLine = identity.throughCommandLine
        // Who started the command line is a name and no proof: any program can start it and then execute a better-known one.
        let own = isCommandLine ? [] : application.map { entitlements?.groups(adding: $0.text) ?? [$0.text] } ?? []
        groups = isCommandLine ? [AccessGroup.commandLine] : own
        asks = isCommandLine || application == nil
        shared = asks ? [AccessGroup.unsigned] : []
        let first = groups.first ?? shared.first
        defaultGroup = first == AccessGroup.token ? nil : first
        ownsEverything = false
        key = isCommandLine || application == nil ? Self.key(ofUnknown: identity) : application?.text
    }

    private init(
        groups: [String], defaultGroup: String?, shared: [String], ownsEverything: Bool, asks: Bool, key: String?, isCommandLine: Bool
    ) {
        self.groups = groups
        self.defaultGroup = defaultGroup
        self.shared = shared
        self.ownsEverything = ownsEverything
        self.asks = asks
        self.key = key
        self.isCommandLine = isCommandLine
    }

    /// An interpreter can be let in as what it is: whatever it runs. One that is traced or that nobody could look at has no
    /// name that means anything tomorrow.
    private static func key(ofUnknown identity: CallerIdentity) -> String? {
        guard identity.doubt == .interpreter, let path = identity.executable?.path else { return nil }
        return ApplicationIdentifier.anythingRun(by: path)
    }

    /// Whether items of a group are the caller's own.
    func owns(_ group: String) -> Bool { ownsEverything || groups.containsBytes(of: group) }

    /// Whether a query may name the group (Specs/secitem.md, 7). Who has no identity names any owner, and the user is then asked.
    func mayName(_ group: String) -> Bool {
        if owns(group) || shared.containsBytes(of: group) || offering.map(group.isSameBytes) ?? false { return true }
        return asks && !group.isEmpty && !group.isSameBytes(as: AccessGroup.token)
    }

    /// Whether an item may be put into the group.
    func mayWrite(_ group: String) -> Bool {
        (owns(group) || shared.containsBytes(of: group)) && !group.isSameBytes(as: AccessGroup.token)
    }

    /// The same, for a search that may name a group of another owner.
    func searching(_ group: String) -> CallerRights {
        var rights = self
        rights.offering = group
        return rights
    }
}
