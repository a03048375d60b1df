internal import VaubanLinuxHost

/// People's names, which fprintd wants in the place of their numbers. To be made before the room shuts itself in: the modules of
/// the system's list of users are code, and no code can be loaded afterwards.
struct UserNames {
    private let accounts = Accounts.ofThisMachine
    private let names = NameService()

    init() { NameService.load() }

    /// Waits for a service that is asked beside the system's own list, `NameLimits.answerTime` at most.
    func name(of user: UInt32) -> String? {
        if case .known(let name?) = accounts.standing(of: user) { return name }
        guard case .named(let name) = names.user(user) else { return nil }
        return name
    }
}
