/// The limits of authd.
enum AuthenticationLimits {
    /// Agents of one user. A reply can name as many places.
    static let agentsPerUserMax = 32
    /// Prompts of one user, shown or queued. Further ones are answered as if there were no agent.
    static let promptsPerUserMax = 64
    /// Watchers of one user.
    static let watchersPerUserMax = 64
    /// Recent prompts remembered per agent, to distinguish a late answer from an invented one.
    static let shownRememberedMax = 8
}
