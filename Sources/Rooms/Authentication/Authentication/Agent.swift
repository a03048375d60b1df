package import VaubanAuthenticationWire
import VaubanUserModel

/// A prompt agent as authd knows it. Its user and its process are the kernel's words; its scope and its place are its
/// own, which is why neither decides whose prompts it may see.
package struct Agent: Hashable, Sendable {
    package let user: UInt32
    package let pid: Int32
    package let scope: AgentScope
    package let place: String
    /// Not on the own terminal of a program: what a consent lets happen takes more words than that place has.
    package let takesConsent: Bool

    package init(user: UInt32, pid: Int32, scope: AgentScope, place: String, takesConsent: Bool = true) {
        self.user = user
        self.pid = pid
        self.scope = scope
        self.place = place
        self.takesConsent = takesConsent
    }

    /// Whether prompts of this caller, who is of the agent's own user, may appear here.
    func takes(caller: Int64) -> Bool {
        switch scope {
        case .everyCaller, .sheet: true
        case .ownProcess: Int64(pid) == caller
        }
    }

    func takes(_ question: PromptQuestion) -> Bool { takes(caller: question.caller.pid) && (takesConsent || question.consent == nil) }
}

/// An agent's connection, numbered in the order of arrival; numbers are never used again.
package struct AgentID: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}

extension AgentScope {
    /// Lower comes first: the sheet is where a user at a desktop looks, and what is typed at an approver's terminal cannot be
    /// read by whoever controls the caller's.
    var rank: Int {
        switch self {
        case .sheet: 0
        case .everyCaller: 1
        case .ownProcess: 2
        }
    }
}
