import Synchronization
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// A prompt's request together with the enclave key to which the agent seals the answer.
struct AgentPrompt: Sendable {
    let request: PromptRequest
    let card: Result<EnclaveKeyCard, Refusal>
}

/// Messages of authd that the agent has not handled yet. A separate thread fills the inbox, so a prompt can be withdrawn while the user
/// types. `descriptor` is readable while the inbox has entries.
final class AgentInbox: Sendable {
    enum Entry: Sendable {
        case ask(AgentPrompt)
        case resolved(prompt: [UInt8], PromptOutcome)
        case update(prompt: [UInt8], PromptUpdate)
        /// The connection ended; no entry follows.
        case ended(Refusal)
    }

    private let wakeup: Wakeup
    private let entries = Mutex<[Entry]>([])

    init() throws(SystemError) { wakeup = try Wakeup() }

    var descriptor: Descriptor { wakeup.descriptor }

    func put(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
        wakeup.signal()
    }

    /// Removes and returns the next entry. A resolved prompt also removes its pending entries.
    func take() -> Entry? {
        entries.withLock { waiting in
            if waiting.isEmpty { wakeup.clear(); return nil }
            let next = waiting.removeFirst()
            // An earlier prompt may have cleared it; the remaining entries may withdraw the one that is shown next.
            if waiting.isEmpty { wakeup.clear() } else { wakeup.signal() }
            return next
        }
    }

    /// Why the prompt on the screen no longer needs an answer.
    enum WithdrawalReason: Sendable {
        /// The prompt was resolved, or the connection ended, which resolves every prompt.
        case resolved(PromptOutcome)
        /// The same prompt is sent again in another form, for example because fingerprints no longer count. The new request is the next
        /// entry.
        case promptedAgain
    }

    /// Returns why a prompt was withdrawn, or nil if it is still open.
    func withdrawalReason(of prompt: [UInt8]) -> WithdrawalReason? {
        entries.withLock { waiting in
            // Otherwise the remaining entries would wake this waiter repeatedly; they are handled after the prompt on the screen.
            wakeup.clear()
            for (index, entry) in waiting.enumerated() {
                switch entry {
                case .resolved(let resolved, let outcome) where resolved == prompt:
                    waiting.remove(at: index)
                    waiting.removeAll { if case .ask(let asked) = $0 { asked.request.prompt == prompt } else { false } }
                    return .resolved(outcome)
                case .ended: return .resolved(.callerGone)
                default: continue
                }
            }
            return waiting.contains { if case .ask(let asked) = $0 { asked.request.prompt == prompt } else { false } }
                ? .promptedAgain : nil
        }
    }

    /// Returns what happened to the prompt on the screen, oldest first; returns each update once.
    func updates(of prompt: [UInt8]) -> [PromptUpdate] {
        entries.withLock { waiting in
            var updates: [PromptUpdate] = []
            waiting.removeAll { entry in
                guard case .update(prompt, let update) = entry else { return false }
                updates.append(update)
                return true
            }
            return updates
        }
    }
}
