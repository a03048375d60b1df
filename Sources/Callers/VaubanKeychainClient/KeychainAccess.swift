// Requests about which program may use which item.

package import VaubanKeychainModel
package import VaubanKeychainWire
package import VaubanRefusal

extension KeychainClient {
    /// Returns this program's name in the keychain and its access groups.
    package func ownRights() throws(Refusal) -> ProgramRights {
        guard case .ownRights(let application, let groups)? = try call(.ownRights, secret: nil, waiting: nil).reply else {
            throw Refusal(.internalError, "the keychain did not identify this program")
        }
        return ProgramRights(application: application, groups: groups)
    }

    /// Returns the permissions that the user has granted to programs.
    package func permissions(waiting: Waiting? = nil) throws(Refusal) -> [Permission] {
        try call(.permissions, secret: nil, waiting: waiting).permissions
    }

    /// Grants or revokes a permission. Granting prompts the user.
    package func permit(_ change: PermissionChange, waiting: Waiting? = nil) throws(Refusal) {
        _ = try call(.permit(change), secret: nil, waiting: waiting)
    }

    /// Assigns a batch of items without an owner to an owner; call again while some are left.
    package func move(to owner: String, waiting: Waiting? = nil) throws(Refusal) -> RewrapProgress {
        guard case .rewrapped(let progress)? = try call(.move(to: owner), secret: nil, waiting: waiting).reply else {
            throw Refusal(.internalError, "the keychain reported no progress")
        }
        return progress
    }
}

/// The access of a program to the keychain without a prompt.
package struct ProgramRights: Hashable, Sendable {
    /// The program's identifier from the system; nil if it has none, and in user mode.
    package let application: String?
    /// The access groups in order: an item added without a group goes to the first.
    package let groups: [String]
}
