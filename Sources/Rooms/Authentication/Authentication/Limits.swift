/// The limits of authd.
enum AuthenticationLimits {
    /// Agents of one user; the door's status reply can name as many places.
    static let agentsPerUserMax = 32
    /// Prompts of one user, shown or in line. What comes beyond them is answered as if nobody were there.
    static let promptsPerUserMax = 64
    /// Watches of one user.
    static let watchersPerUserMax = 64
    /// How many shown questions an agent is remembered by, so that a late answer is told from an invented one.
    static let shownRememberedMax = 8
}
