// What a user's prompts call the teams whose signed programs that user trusts (Specs/code-signing.md).

package import VaubanAccessPolicy
internal import VaubanLinuxHost

/// The names of teams, as keychaind told them. They are kept in memory alone: keychaind tells them again for each connection of a caller.
package final class TeamNames: Sendable {
    private let names = ThreadMutex<[TeamIdentifier: String]>([:])
    /// The limit for a user. Further teams have no name in prompts.
    private static let namesMax = 64

    /// Records the name of a team; nil if it is not trusted any more.
    package func set(_ name: String?, of team: TeamIdentifier) {
        names.withLock { names in
            guard name == nil || names[team] != nil || names.count < Self.namesMax else { return }
            names[team] = name
        }
    }

    /// Returns the name of a team; nil if it is not trusted, or keychaind did not tell it since the enclave started.
    package subscript(team: TeamIdentifier) -> String? { names.withLock { $0[team] } }

    /// Forgets all names, since an erased keychain trusts no team.
    func removeAll() { names.withLock { $0 = [:] } }
}
