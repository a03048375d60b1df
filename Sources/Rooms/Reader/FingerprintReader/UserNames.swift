internal import VaubanLinuxHost

/// Users' names, which fprintd expects in place of numbers. Must be created before hardening: the name service's modules are code, and no
/// code can be loaded afterwards.
struct UserNames {
    private let accounts = Accounts.ofThisMachine
    private let names = NameService()

    init() { NameService.load() }

    /// Returns a user's name. Waits for a service beside the system's own list for at most `NameLimits.answerTime`.
    func name(of user: UInt32) -> String? {
        if case .known(let name?) = accounts.standing(of: user) { return name }
        guard case .named(let name) = names.user(user) else { return nil }
        return name
    }
}
