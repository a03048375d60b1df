package import VaubanRefusal

/// Decides who may use the installed service: users of the system, their subordinate uids, and uids that root allows.
package struct Admission: Sendable {
    package let accounts: Accounts
    private let names: NameService

    package init(accounts: Accounts = .ofThisMachine, names: NameService = NameService()) {
        self.accounts = accounts
        self.names = names
    }

    /// Returns if the uid belongs to a user. If no file lists the uid, waits for the name service, at most `NameLimits.answerTime`.
    /// - Throws: `notAllowedHere` with what root can do, or `unavailable` if the name service does not reply.
    package func admit(_ uid: UInt32) throws(Refusal) {
        switch accounts.standing(of: uid) {
        case .known, .subordinate: return
        case .dynamic:
            throw Refusal(
                .notAllowedHere,
                """
                The user number \(uid) is one of systemd's for the time of one service, and somebody else's tomorrow; root can allow \
                it in /etc/vauban/\(Self.file)
                """
            )
        case .unlisted:
            switch names.user(uid) {
            case .named(let name): accounts.confirm(uid, name: name)
            case .nobody:
                accounts.confirm(uid, name: nil)
                throw Refusal(
                    .notAllowedHere, "This system knows no user with the number \(uid); root can allow it in /etc/vauban/\(Self.file)")
            case .silent:
                throw Refusal(
                    .unavailable,
                    "The name service does not answer for user number \(uid); try again, or root can allow it in /etc/vauban/\(Self.file)"
                )
            }
        }
    }

    private static let file = "uids"
}
