/// The limits of authd.
enum AuthenticationLimits {
    /// The most agents of one user. A reply can name as many places.
    static let agentsPerUserMax = 32
    /// The most prompts of one user, shown or queued. The enclave sends no more; further ones are answered as if there were no agent.
    static let promptsPerUserMax = 64
    /// The most watchers of one user.
    static let watchersPerUserMax = 64
    /// The number of recent prompts kept per agent, to distinguish a late answer from an invented one.
    static let recentPromptsPerAgentMax = 8
}
