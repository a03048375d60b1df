import Glibc
import Synchronization
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// A question with the key to answer it.
struct AgentQuestion: Sendable {
    let question: PromptQuestion
    let card: Result<EnclaveKeyCard, Refusal>
}

/// What authd said and the agent has not yet acted on. A thread of its own fills it, so that a question on the screen can
/// be withdrawn while the user types; its descriptor is readable while there is something in it.
final class AgentInbox: Sendable {
    enum Entry: Sendable {
        case ask(AgentQuestion)
        case settled(prompt: [UInt8], PromptOutcome)
        case update(prompt: [UInt8], PromptUpdate)
        /// The connection ended; nothing comes after it.
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
        // A full pipe rings already.
        var ring: UInt8 = 0
        _ = write(bell.number, &ring, 1)
    }

    /// The next thing to act on. A settled prompt takes its unasked questions with it.
    func take() -> Entry? {
        entries.withLock { waiting in
            if waiting.isEmpty { clear(); return nil }
            let next = waiting.removeFirst()
            if waiting.isEmpty { clear() }
            return next
        }
    }

    /// Why the question that is on the screen needs no answer any more.
    enum News: Sendable {
        /// The prompt was settled, or the connection has ended, which settles everything.
        case settled(PromptOutcome)
        /// The same prompt asks otherwise now: a finger is no way any more, say. Its question is the next to act on.
        case askedAnew
    }

    /// What has come meanwhile about a prompt, if anything has.
    func news(of prompt: [UInt8]) -> News? {
        entries.withLock { waiting in
            // What is left must not wake the same waiter for ever: it is acted on after the question that is on the screen.
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
            return waiting.contains { if case .ask(let asked) = $0 { asked.question.prompt == prompt } else { false } } ? .askedAnew : nil
        }
    }

    /// What happened to a prompt that is on the screen, oldest first; each is told once.
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
