// What the users of this machine call the teams whose signed programs they trust, so that prompts can say it (Specs/code-signing.md).

import VaubanAccessPolicy
internal import VaubanLinuxHost

/// The names of teams by user, as keychaind knows them. They are kept in memory alone: keychaind says them again for each caller.
final class TeamNames: Sendable {
    private let names = ThreadMutex<[UInt32: [TeamIdentifier: String]]>([:])
    /// The limit for one user. Further teams have no name in prompts.
    static let namesMax = 64

    /// Records the name of a team, or that the user no longer trusts it.
    func set(_ name: String?, of team: TeamIdentifier, for user: UInt32) {
        names.withLock { names in
            guard let name else {
                names[user]?[team] = nil
                return
            }
            guard names[user]?[team] != nil || names[user]?.count ?? 0 < Self.namesMax else { return }
            names[user, default: [:]][team] = name
        }
    }

    /// Returns the name of a team; nil if the user does not trust it, or keychaind did not say so since the enclave started.
    func name(of team: TeamIdentifier, for user: UInt32) -> String? { names.withLock { $0[user]?[team] } }
}
