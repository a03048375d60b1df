// The sender of a request, with the properties that this room uses (Specs/access-groups.md).

package import EnclaveWire
package import VaubanAccessPolicy
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanUserModel

/// The caller of one connection, identified before anything is sent to it.
package struct Caller: Sendable {
    package let user: UInt32
    /// The caller's identity; nil in user mode, where every program of the user is one owner.
    package let identity: CallerIdentity?
    /// Root's grants to the program by its name, apart from its signature.
    package let entitlements: Entitlements?
    /// The program with its signature; nil if it has none.
    package let signed: SignedProgram?
    /// The names of the teams that root trusts.
    let teams: [TeamIdentifier: String]
    /// The user's consents that are valid as long as this connection lasts.
    let consents = ConnectionConsents()
    /// The caller in the form of the access log.
    private let logged: AccessCaller
    private let loggedAsSigned: AccessCaller?

    /// Returns the caller in the form of the access log. If `isSigned`, a signed program is identified by its signature.
    func logged(asSigned isSigned: Bool) -> AccessCaller { isSigned ? loggedAsSigned ?? logged : logged }

    /// Creates the caller of user mode.
    package init(user: UInt32) {
        self.user = user
        identity = nil
        entitlements = nil
        signed = nil
        teams = [:]
        logged = AccessCaller(nil)
        loggedAsSigned = nil
    }

    package init(user: UInt32, identity: CallerIdentity, granted table: EntitlementTable) {
        self.user = user
        self.identity = identity
        let parents = identity.loggedParents
        logged = AccessCaller(AccessProgram(identity, as: identity.application), parents: parents)
        loggedAsSigned = identity.signer.map { AccessCaller(AccessProgram(identity, as: $0.application), parents: parents) }
        entitlements = identity.application.flatMap { table.entitlements(of: $0) }
        signed = identity.signer.map { SignedProgram($0, granted: table) }
        teams = table.teams
    }
}

extension AccessProgram {
    fileprivate init(_ identity: CallerIdentity, as application: ApplicationIdentifier?) {
        self.init(
            application: PlainLine.bothEnds(application?.text ?? "", bytesMax: Self.textBytesMax),
            path: PlainLine.bothEnds(identity.executable?.path ?? "", bytesMax: Self.pathBytesMax),
            throughCommandLine: identity.throughCommandLine, commands: identity.commands)
    }
}

extension CallerIdentity {
    /// Whether the program had an identity until its file, or a library of root's, was replaced or removed, as by an upgrade. The witness
    /// reports the file of such a program, but no standing. A program in memory (`memfd_create`) never had an identity, and the command
    /// line does not lose its own with that of the program that started it.
    package var isOfReplacedProgram: Bool {
        guard gap == .unseen, !throughCommandLine, let executable else { return false }
        return !PathBytes.isDeleted(executable.path) || PathBytes.pathBeforeDeletion(executable.path) != nil
    }

    /// The Vauban commands in the chain of processes, which ends with the program itself if that could be inspected.
    fileprivate var commands: [String] {
        guard throughCommandLine else { return [] }
        return (executable == nil ? chain : chain.dropLast()).prefix(AccessProgram.commandsMax)
            .map { PlainLine.bothEnds($0, bytesMax: AccessProgram.textBytesMax) }
    }

    /// The parents for which a log record has room beside the commands, the nearest first.
    fileprivate var loggedParents: [String] {
        var room = AccessRecord.pathsBytesMax - commands.reduce(0) { $0 + $1.utf8.count }
        var logged: [String] = []
        for path in parents.prefix(AccessRecord.parentsMax) {
            let text = PlainLine.bothEnds(path, bytesMax: AccessProgram.textBytesMax)
            room -= text.utf8.count
            guard room >= 0 else { break }
            logged.append(text)
        }
        return logged
    }
}

/// Consents that are valid for one connection. Listing all owners takes one search for each class of items, and giving many items to an
/// owner takes many batches; one consent covers all of them.
final class ConnectionConsents: Sendable {
    let toListOwners = ThreadMutex(false)
    /// The moves in progress, by the bytes of the owner.
    let moves = ThreadMutex<[[UInt8]: ItemMove]>([:])
    /// A consent that found no item in the class for which it was requested.
    let unused = ThreadMutex<PendingConsent?>(nil)
}

/// The rights of a caller for one request: the items that belong to it, and the groups that it may name.
package struct CallerRights: Hashable, Sendable {
    /// The groups whose items are the caller's own, in order of preference.
    package let groups: [String]
    /// The group of an item that is added without one; nil if the caller may add nothing.
    package let defaultGroup: String?
    /// Groups that the caller may name although it does not own their items, so that reading one needs the user's consent.
    package let shared: [String]
    /// Another owner's group that a search may name, since that owner allows this program to request items in it.
    private var offering: String?
    /// Whether groups are only labels, as in user mode.
    package let ownsEverything: Bool
    /// Whether the caller may request any owner's items, with the user's consent: the command line, or a caller without an identity.
    package let mayRequestAnyOwner: Bool
    /// The name under which the user's permissions for the caller are stored; nil if it has no lasting name.
    package let key: String?
    /// Whether the caller is the user at the command line.
    package let isCommandLine: Bool

    package static let everything = CallerRights(
        groups: [], defaultGroup: AccessGroup.unsigned, shared: [], ownsEverything: true, mayRequestAnyOwner: false, key: nil,
        isCommandLine: true)

    /// The rights to the user's own items, for an approved request about the passwords of a website.
    static let ownPasswords = CallerRights(
        groups: [AccessGroup.commandLine], defaultGroup: AccessGroup.commandLine, shared: [], ownsEverything: false,
        mayRequestAnyOwner: false, key: nil, isCommandLine: false)

    /// Creates the rights of a caller. `application` is the application that the program counts as: for a new build that the user accepted,
    /// the earlier one. `signer` is given if the program is signed by a trusted team.
    package init(
        _ identity: CallerIdentity, _ entitlements: Entitlements?, application: ApplicationIdentifier?, signer: CodeSigner? = nil
    ) {
        isCommandLine = identity.throughCommandLine
        // The program that started the command line is known by name only. That proves nothing, since any program can start the command
        // line and then execute a better-known program.
        var own = isCommandLine ? [] : application.map { Self.groups(entitlements, adding: signer?.group ?? $0.text) } ?? []
        // The signed program continues an unsigned build, so it also owns that build's items.
        if let signer, let application, application != signer.application, !own.containsBytes(of: application.text) {
            own.append(application.text)
        }
        groups = isCommandLine ? [AccessGroup.commandLine] : own
        mayRequestAnyOwner = isCommandLine || application == nil
        shared = mayRequestAnyOwner ? [AccessGroup.unsigned] : []
        let first = groups.first ?? shared.first
        defaultGroup = first == AccessGroup.token ? nil : first
        ownsEverything = false
        key = isCommandLine || application == nil ? Self.key(ofUnknown: identity) : application?.text
    }

    private static func groups(_ entitlements: Entitlements?, adding name: String) -> [String] {
        entitlements?.groups(adding: name) ?? [name]
    }

    private init(
        groups: [String], defaultGroup: String?, shared: [String], ownsEverything: Bool, mayRequestAnyOwner: Bool, key: String?,
        isCommandLine: Bool
    ) {
        self.groups = groups
        self.defaultGroup = defaultGroup
        self.shared = shared
        self.ownsEverything = ownsEverything
        self.mayRequestAnyOwner = mayRequestAnyOwner
        self.key = key
        self.isCommandLine = isCommandLine
    }

    /// Returns the key of a caller without an identity. An interpreter can be permitted as such, with anything that it runs. A traced
    /// program, or one that could not be inspected, has no lasting name.
    private static func key(ofUnknown identity: CallerIdentity) -> String? {
        guard identity.gap == .interpreter, let path = identity.executable?.path, !PathBytes.isDeleted(path) else { return nil }
        return ApplicationIdentifier.anythingRun(by: path)
    }

    /// Returns whether items of a group are the caller's own.
    func owns(_ group: String) -> Bool { ownsEverything || groups.containsBytes(of: group) }

    /// Returns whether a query may name the group (Specs/secitem.md, 7). A caller without an identity may name any owner, and the user is
    /// then prompted for consent.
    func mayName(_ group: String) -> Bool {
        if owns(group) || shared.containsBytes(of: group) || offering.map(group.isSameBytes) ?? false { return true }
        return mayRequestAnyOwner && !group.isEmpty && !group.isSameBytes(as: AccessGroup.token)
    }

    /// Returns whether an item may be put into the group.
    func mayWrite(_ group: String) -> Bool {
        (owns(group) || shared.containsBytes(of: group)) && !group.isSameBytes(as: AccessGroup.token)
    }

    /// Returns the same rights for a search that may name a group of another owner.
    func searching(_ group: String) -> CallerRights {
        var rights = self
        rights.offering = group
        return rights
    }
}
