/// Where one prompt is on its way: asked → shown → answering → retry → …, until it ends, which takes it out of the line. One value
/// and one function, so that every step that is not in the table is none.
package enum PromptStage: Hashable, Sendable {
    /// In line; nobody sees it.
    case asked
    case shown(AgentID)
    /// An answer is on its way to the enclave, whose word is next: a settlement, or the same prompt once more.
    case answering(AgentID)
    /// The enclave asks once more after an answer, at the same agent.
    case retry(AgentID)

    package enum Step: Hashable, Sendable {
        /// It is its turn, or it moves, and this is the best agent there is.
        case reaches(AgentID)
        case answeredBy(AgentID)
        /// The enclave put the question anew, with another challenge.
        case askedAnew
        case agentLeft(AgentID)
    }

    /// Who has it on the screen.
    package var agent: AgentID? {
        switch self {
        case .asked: nil
        case .shown(let agent), .answering(let agent), .retry(let agent): agent
        }
    }

    /// Whether an answer of this agent counts.
    package func takesAnswer(of agent: AgentID) -> Bool { self == .shown(agent) || self == .retry(agent) }

    /// The stage after a step; nil where the step is none from here.
    package func after(_ step: Step) -> PromptStage? {
        switch (self, step) {
        case (.asked, .reaches(let agent)): .shown(agent)
        // In line there is nothing to show anew; the question waits as it is now.
        case (.asked, .askedAnew): .asked
        case (.shown(let agent), .answeredBy(let by)) where agent == by: .answering(agent)
        case (.retry(let agent), .answeredBy(let by)) where agent == by: .answering(agent)
        // Something else can be shown now, though nobody has answered.
        case (.shown(let agent), .askedAnew): .shown(agent)
        case (.answering(let agent), .askedAnew), (.retry(let agent), .askedAnew): .retry(agent)
        case (.shown(let agent), .agentLeft(let left)) where agent == left: .asked
        case (.retry(let agent), .agentLeft(let left)) where agent == left: .asked
        // It has been answered: the enclave's word ends it, or asks anew, for which another agent is then sought.
        case (.answering(let agent), .agentLeft(let left)) where agent == left: self
        default: nil
        }
    }
}
