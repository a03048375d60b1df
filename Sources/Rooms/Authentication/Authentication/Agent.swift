package import VaubanAuthenticationWire
import VaubanUserModel

/// A registered prompt agent. The kernel names its user and process. Its scope and place are its own claims, so neither decides whose
/// prompts it may show.
package struct Agent: Hashable, Sendable {
    package let user: UInt32
    package let pid: Int32
    package let scope: AgentScope
    package let place: String
    /// Whether it shows consents and changes of credentials. A program's own terminal does not, since they take more explanation than fits
    /// there.
    package let takesConsent: Bool

    package init(user: UInt32, pid: Int32, scope: AgentScope, place: String, takesConsent: Bool = true) {
        self.user = user
        self.pid = pid
        self.scope = scope
        self.place = place
        self.takesConsent = takesConsent
    }

    /// Returns whether prompts of this caller, who has the agent's user, may appear here.
    func takes(caller: Int64) -> Bool {
        switch scope {
        case .everyCaller, .sheet, .otherDevice: true
        case .ownProcess: Int64(pid) == caller
        }
    }

    /// Another device cannot use this device's fingerprint reader, and cannot change its credentials.
    func takes(_ request: PromptRequest) -> Bool {
        if scope == .otherDevice, request.change != nil || !request.takesPasscode { return false }
        return takes(caller: request.caller.pid) && (takesConsent || (request.consent == nil && request.change == nil))
    }
}

/// The number of an agent's connection, in order of arrival. Numbers are never reused.
package struct AgentID: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}

extension AgentScope {
    /// The preference among agents; lower comes first. The sheet is first, since a user at a desktop looks there. A terminal of `vauban
    /// approve` precedes the caller's own, since a program that controls the caller's terminal cannot read what is typed there. Another
    /// device is last: it shows prompts only if no place here does.
    var rank: Int {
        switch self {
        case .sheet: 0
        case .everyCaller: 1
        case .ownProcess: 2
        case .otherDevice: 3
        }
    }
}
