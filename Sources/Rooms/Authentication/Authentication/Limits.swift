/// The limits of authd.
enum AuthenticationLimits {
    /// Agents of one person; the door's status reply can name as many places.
    static let agentsPerPersonMax = 32
    /// Prompts of one person, shown or in line. What comes beyond them is answered as if nobody were there.
    static let promptsPerPersonMax = 64
    /// Watches of one person.
    static let watchersPerPersonMax = 64
    /// How many shown questions an agent is remembered by, so that a late answer is told from an invented one.
    static let shownRememberedMax = 8
}
