// The names, in a user's prompts, of the teams whose signed programs that user trusts (Specs/code-signing.md).

package import VaubanAccessPolicy
internal import VaubanLinuxHost

/// The names of teams, which keychaind sends for each connection of a caller. They are kept in memory only.
package final class TeamNames: Sendable {
    private let names = ThreadMutex<[TeamIdentifier: String]>([:])
    /// The limit for one user. Prompts show no names of further teams.
    private static let namesMax = 64

    /// Records the name of a team; nil if it is not trusted any more.
    package func set(_ name: String?, of team: TeamIdentifier) {
        names.withLock { names in
            guard name == nil || names[team] != nil || names.count < Self.namesMax else { return }
            names[team] = name
        }
    }

    /// Returns the name of a team; nil if it is not trusted, or if keychaind has not sent it since the enclave started.
    package subscript(team: TeamIdentifier) -> String? { names.withLock { $0[team] } }

    /// Removes all names, since an erased keychain trusts no team.
    func removeAll() { names.withLock { $0 = [:] } }
}
