// Callers of the installed service, with the identities that the witness would have found.

import EnclaveWire
import Keychain
import Synchronization
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanRefusal
import VaubanUserModel

enum Callers {
    static func executable(_ path: String, build: UInt8 = 1) -> ExecutableIdentity {
        ExecutableIdentity(path: path, device: 1, inode: 2, digest: [UInt8](repeating: build, count: 32))
    }

    static func installed(_ path: String) -> Caller { caller(CallerIdentity(.installed, executable: executable(path), chain: [path])) }

    /// Returns an installed program that these programs started, the nearest first.
    static func installed(_ path: String, startedBy parents: [String]) -> Caller {
        caller(CallerIdentity(.installed, executable: executable(path), chain: [path], parents: parents))
    }

    static func own(_ path: String, build: UInt8) -> Caller {
        caller(CallerIdentity(.own, executable: executable(path, build: build), chain: [path]))
    }

    /// Returns a script, of which only the interpreter is known.
    static func script(_ gap: IdentityGap = .interpreter, of path: String = "/usr/bin/python3.11") -> Caller {
        caller(CallerIdentity(.unknown(gap), executable: gap == .unseen ? nil : executable(path), chain: [path]))
    }

    /// Returns `vauban`, started from a shell or by a program.
    static func commandLine(startedBy standing: CallerIdentity.Standing = .unknown(.interpreter), _ path: String = "/usr/bin/bash")
        -> Caller
    {
        caller(
            CallerIdentity(
                standing, throughCommandLine: true, executable: standing == .unknown(.orphan) ? nil : executable(path),
                chain: ["/usr/bin/vauban", path]))
    }

    static func caller(_ identity: CallerIdentity, granted table: EntitlementTable = .none) -> Caller {
        Caller(user: Room.user, identity: identity, granted: table)
    }
}

extension Room {
    func add(_ account: String, value: String = "value", as caller: Caller, group: String? = nil, applications: [String] = []) throws {
        var attributes: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text(account)]
        if let group { attributes[.accessGroup] = .text(group) }
        let record = ItemRecord(kind: .genericPassword, attributes: ItemAttributes(attributes))
        try serve(.add(record, returns: [], hasData: true, applications: applications), value: value, as: caller)
    }

    /// Returns the values that a search finds, with their groups.
    func get(
        _ account: String? = nil, as caller: Caller, limit: MatchLimit = .one, ui: AuthenticationUI = .allow, group: String? = nil
    ) throws -> [String] {
        var attributes: [AttributeName: AttributeValue] = [.service: .text("s")]
        if let account { attributes[.account] = .text(account) }
        if let group { attributes[.accessGroup] = .text(group) }
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes(attributes))
        query.returns = ui == .describe ? .attributes : [.data, .attributes]
        query.limit = limit
        query.authenticationUI = ui
        return try serve(.copyMatching(query), as: caller).found.map { found in
            let group: String = if case .text(let group)? = found.record?.attributes[.accessGroup] { group } else { "none" }
            return "\(group)=\(found.value ?? "")"
        }.sorted()
    }

    func delete(_ account: String, as caller: Caller, group: String? = nil) throws {
        try serve(.delete(ItemQuery(kind: .genericPassword, attributes: Self.named(account, in: group))), as: caller)
    }

    /// Changes the value of an item of a group, or of the caller's own, and its group.
    func update(_ account: String, to value: String, as caller: Caller, group: String? = nil, in owner: String? = nil) throws {
        let query = ItemQuery(kind: .genericPassword, attributes: Self.named(account, in: owner))
        let changes = ItemChanges(attributes: ItemAttributes(group.map { [.accessGroup: .text($0)] } ?? [:]), hasData: true)
        try serve(.update(query, changes), value: value, as: caller)
    }

    private static func named(_ account: String, in group: String?) -> ItemAttributes {
        var attributes: [AttributeName: AttributeValue] = [.service: .text("s"), .account: .text(account)]
        if let group { attributes[.accessGroup] = .text(group) }
        return ItemAttributes(attributes)
    }

    func permissions() throws -> [Permission] {
        try serve(.permissions, as: Callers.commandLine()).messages.flatMap { reply -> [Permission] in
            if case .permissions(let list) = reply { list } else { [] }
        }
    }

    func userSays(_ choice: ConsentChoice) { enclave.set { $0.consentAnswers = .success(choice) } }
    func userIsAway() { enclave.set { $0.consentAnswers = .failure(Refusal(.noPromptAgent)) } }
    var consents: [Consent] { enclave.state.withLock { $0.consents } }
    /// The names of teams that prompts show.
    var teamNames: [TeamIdentifier: String] { enclave.state.withLock { $0.teamNames } }
}
