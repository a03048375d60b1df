import Glibc
import Synchronization
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// A prompt's request together with the enclave key to which the agent seals the answer.
struct AgentQuestion: Sendable {
    let question: PromptQuestion
    let card: Result<EnclaveKeyCard, Refusal>
}

/// Messages of authd that the agent has not handled yet. A separate thread fills the inbox, so a prompt can be withdrawn while the user
/// types. `descriptor` is readable while the inbox has entries.
final class AgentInbox: Sendable {
    enum Entry: Sendable {
        case ask(AgentQuestion)
        case settled(prompt: [UInt8], PromptOutcome)
        case update(prompt: [UInt8], PromptUpdate)
        /// The connection ended; no entry follows.
        case ended(Refusal)
    }

    let descriptor: Descriptor
    private let bell: Descriptor
    private let entries = Mutex<[Entry]>([])

    init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        try SystemError.check(pipe(&ends), "make a pipe")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = Descriptor(ends[0])
        bell = Descriptor(ends[1])
    }

    func put(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
        // A full pipe is already readable.
        var ring: UInt8 = 0
        _ = write(bell.number, &ring, 1)
    }

    /// Removes and returns the next entry. A settled prompt removes its pending questions too.
    func take() -> Entry? {
        entries.withLock { waiting in
            if waiting.isEmpty { clear(); return nil }
            let next = waiting.removeFirst()
            if waiting.isEmpty { clear() }
            return next
        }
    }

    /// Why the prompt on the screen no longer needs an answer.
    enum News: Sendable {
        /// The prompt was settled, or the connection ended, which settles every prompt.
        case settled(PromptOutcome)
        /// The same prompt comes in another form, for example because fingerprints no longer count. Its question is the next entry.
        case askedAnew
    }

    /// Returns news about a prompt, or nil if there is none.
    func news(of prompt: [UInt8]) -> News? {
        entries.withLock { waiting in
            // The entries left must not wake the same waiter again and again: they are handled after the prompt on the screen.
            clear()
            for (index, entry) in waiting.enumerated() {
                switch entry {
                case .settled(let settled, let outcome) where settled == prompt:
                    waiting.remove(at: index)
                    waiting.removeAll { if case .ask(let asked) = $0 { asked.question.prompt == prompt } else { false } }
                    return .settled(outcome)
                case .ended: return .settled(.callerGone)
                default: continue
                }
            }
            return waiting.contains { if case .ask(let asked) = $0 { asked.question.prompt == prompt } else { false } }
                ? .askedAnew : nil
        }
    }

    /// Returns what happened to the prompt on the screen, oldest first; returns each update once.
    func updates(of prompt: [UInt8]) -> [PromptUpdate] {
        entries.withLock { waiting in
            var news: [PromptUpdate] = []
            waiting.removeAll { entry in
                guard case .update(prompt, let update) = entry else { return false }
                news.append(update)
                return true
            }
            return news
        }
    }

    private func clear() {
        var rings = [UInt8](repeating: 0, count: 64)
        while read(descriptor.number, &rings, rings.count) > 0 {}
    }
}
