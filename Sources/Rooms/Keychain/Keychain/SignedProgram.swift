// A caller with a signed program (Specs/code-signing.md), and its rights if its team is trusted.

package import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanUserModel

package struct SignedProgram: Sendable {
    package let signer: CodeSigner
    /// The name that root gave the team; nil if root does not trust it.
    let nameByRoot: String?
    /// Root's grants to the program by its name. They replace the entitlements in the signature.
    private let granted: Entitlements?
    private let signed = SignedEntitlements()

    init(_ signer: CodeSigner, granted table: EntitlementTable) {
        self.signer = signer
        nameByRoot = table.teams[signer.team]
        granted = table.entitlements(of: signer.application)
    }

    /// The grants of the program. Must not be called before its team is known to be trusted, since it parses what the signer wrote.
    var entitlements: Entitlements { granted ?? signed.of(signer) }
}

/// The entitlements in a signature, which are parsed once for a connection, and only if the team is trusted.
private final class SignedEntitlements: Sendable {
    private let known = ThreadMutex<Entitlements?>(nil)

    func of(_ signer: CodeSigner) -> Entitlements {
        known.withLock { known in
            if let known { return known }
            let read = Entitlements(of: signer)
            known = read
            return read
        }
    }
}

/// The names that root and the user give to teams.
package enum TeamName {
    package static let bytesMax = CallerName.teamNameBytesMax

    /// Returns whether a text can name a team: one line of at most 64 bytes, without invisible characters.
    package static func isWellFormed(_ name: String) -> Bool {
        !name.isEmpty && PlainLine.of(name, charactersMax: bytesMax, bytesMax: bytesMax).isSameBytes(as: name)
    }
}

extension RequestInProgress {
    /// Returns the caller's signed program if its team is trusted, either by root or by the user, whose teams can be read after the first
    /// unlock.
    func trustedProgram() throws -> SignedProgram? { try teamName() == nil ? nil : caller.signed }

    /// Returns the same, and sets or removes the name of the program and its team for later prompts.
    func trustedProgramNamedInPrompts() throws -> SignedProgram? {
        guard let program = caller.signed else { return nil }
        let name = try teamName()
        showInPrompts(name, of: program.signer.team)
        // The enclave may have been silent, and the caller waits for less than two such waits.
        try reportProgress()
        return name == nil ? nil : program
    }

    /// Returns the name that root, or otherwise the user, gave the team that signed the caller; nil if neither trusts it.
    private func teamName() throws -> String? {
        guard let program = caller.signed else { return nil }
        if let name = program.nameByRoot { return name }
        return try keptRows("team \(program.signer.team)").lazy.compactMap { row in
            if case .text(let name)? = row.record.attributes[.account] { name } else { nil }
        }.first
    }

    /// A failure is ignored: without an enclave there is no prompt, and a prompt without the name shows the program's path.
    private func showInPrompts(_ name: String?, of team: TeamIdentifier) { try? enclave.nameTeam(team, name) }

    /// Returns the caller's grants: by its signature if that is trusted, otherwise from root.
    func entitlements() throws -> Entitlements? { try trustedProgram()?.entitlements ?? caller.entitlements }

    // MARK: The user's teams

    /// Trusts a team under a name, with the user's consent, or ends the trust.
    func permitTeam(_ change: PermissionChange) throws {
        guard let team = TeamIdentifier(text: change.subject) else {
            throw Refusal(.badParameter, "A team identifier is 32 capital letters and digits, as vauban codesign --display shows it")
        }
        guard change.permits else {
            try remove("team \(team)")
            return showInPrompts(caller.teams[team], of: team)
        }
        guard let name = change.name, TeamName.isWellFormed(name) else {
            throw Refusal(.badParameter, "A team's name is one line of at most \(TeamName.bytesMax) bytes")
        }
        try ask(Consent(.changePermission, offered: .once, program: "every program signed by \(name) (\(team))"))
        try keep(.team(name), for: team.text)
        try withRetries {
            let others = try keptRows("team \(team)").filter { $0.record.attributes[.account] != .text(name) }
            return try database.delete(others.map(\.row.handle))
        }
        showInPrompts(caller.teams[team] ?? name, of: team)
    }

    /// Returns the teams that root trusts and those that the user trusts, as `vauban team list` shows them.
    func trustedTeams() throws -> [Permission] {
        let byRoot = caller.teams.map { Permission(.team, subject: $0.key.text, object: "\($0.value)\tby root") }
        var byUser: [Permission] = []
        try forEachKept { row in
            guard let (word, subject) = row.permission, word == "team", case .text(let name)? = row.record.attributes[.account],
                TeamIdentifier(text: subject).map({ caller.teams[$0] == nil }) ?? false
            else { return }
            byUser.append(Permission(.team, subject: subject, object: name))
        }
        return (byRoot + byUser).sorted { $0.subject < $1.subject }
    }
}
