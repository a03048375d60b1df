internal import VaubanAuthenticationClient
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanSSHWire
internal import VaubanUserModel

/// All keys of one agent, both in the keychain and added, and the agent's lock.
final class AgentKeys: Sendable {
    let kept: AgentKeyStore
    let added: AddedKeys
    let lock = AgentLock()
    let filter: KeyFilter
    private let authentication: AuthenticationClient

    init(_ service: Service, _ filter: KeyFilter) throws(SystemError) {
        added = try AddedKeys()
        self.filter = filter
        kept = AgentKeyStore(service, filter)
        authentication = AuthenticationClient(service: service, startsService: false)
    }

    /// Whether the end of this agent would lose something that only its memory has, such as an added key.
    var hasState: Bool { !added.all.isEmpty || lock.isLocked || kept.hasState }

    /// Prompts the user to allow the use of a key that was added with `ssh-add -c`.
    func confirm(_ reason: String, _ cancellation: CallCancellation) throws(Refusal) {
        try authentication.evaluate(.biometryOrPasscode, reason: reason, cancellation: cancellation)
    }
}
