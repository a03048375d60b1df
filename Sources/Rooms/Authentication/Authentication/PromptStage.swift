/// The stage of a prompt: asked → shown → answering → retry → …, until the prompt ends and leaves the queue. A step that is not in the
/// table of `after(_:)` has no effect.
package enum PromptStage: Hashable, Sendable {
    /// Queued, not yet shown.
    case asked
    case shown(AgentID)
    /// An answer was sent to the enclave, which ends the prompt or sends it again.
    case answering(AgentID)
    /// The enclave sent it again after an answer, to the same agent.
    case retry(AgentID)

    package enum Step: Hashable, Sendable {
        /// The prompt is first in the queue, or its agent has left, and this is now the best agent.
        case reaches(AgentID)
        case answeredBy(AgentID)
        /// The enclave sent the prompt again, with another challenge.
        case promptedAgain
        case agentLeft(AgentID)
    }

    /// The agent that shows it.
    package var agent: AgentID? {
        switch self {
        case .asked: nil
        case .shown(let agent), .answering(let agent), .retry(let agent): agent
        }
    }

    /// Returns whether an answer of this agent counts.
    package func takesAnswer(of agent: AgentID) -> Bool { self == .shown(agent) || self == .retry(agent) }

    /// Returns the stage after a step; nil if the step is not possible here.
    package func after(_ step: Step) -> PromptStage? {
        switch (self, step) {
        case (.asked, .reaches(let agent)): .shown(agent)
        // A queued prompt is not shown again; its new content waits.
        case (.asked, .promptedAgain): .asked
        case (.shown(let agent), .answeredBy(let by)) where agent == by: .answering(agent)
        case (.retry(let agent), .answeredBy(let by)) where agent == by: .answering(agent)
        // Its content changed before the user answered.
        case (.shown(let agent), .promptedAgain): .shown(agent)
        case (.answering(let agent), .promptedAgain), (.retry(let agent), .promptedAgain): .retry(agent)
        case (.shown(let agent), .agentLeft(let left)) where agent == left: .asked
        case (.retry(let agent), .agentLeft(let left)) where agent == left: .asked
        // The prompt is answered: the enclave ends it, or sends it again, in which case another agent is chosen.
        case (.answering(let agent), .agentLeft(let left)) where agent == left: self
        default: nil
        }
    }
}
