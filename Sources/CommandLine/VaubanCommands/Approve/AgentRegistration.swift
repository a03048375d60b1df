import Glibc
import Synchronization
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal

/// The registrations of a prompt agent for every caller: the first one, and another each time that the service runs again after it has
/// ended.
final class AgentRegistration: Sendable {
    /// The result of registering again.
    enum News: Sendable {
        /// The service cannot be reached now; with the reason.
        case waits(String)
        case registered(PromptAgent, afterWaiting: Bool)
        /// Prompts can no longer appear here.
        case failed(Refusal)
    }

    private let place: String
    private let surface: any PromptSurface
    private let news = Mutex<[News]>([])
    private let wakeup: Wakeup

    init(place: String, surface: any PromptSurface) throws(SystemError) {
        self.place = place
        self.surface = surface
        wakeup = try Wakeup()
    }

    /// Returns the first agent; starts a service that is not running.
    func register() throws(Refusal) -> PromptAgent { try register(startingService: true) }

    /// The service may be another one each time: an installed one, or one whose sockets are in another folder.
    private func register(startingService: Bool) throws(Refusal) -> PromptAgent {
        try PromptAgent.forEveryCaller(
            of: try Service.current(), place: place, surface: surface, startsService: startingService)
    }

    // MARK: Again

    /// Readable while `take` has something to return.
    var descriptor: Descriptor { wakeup.descriptor }

    /// Registers again on a separate thread, as soon as the service runs. Does not start it, since the user may have stopped it.
    func registerAgain() throws(SystemError) {
        try HostThread.start { [self] in
            var backoff = Backoff(from: 100, to: 5_000)
            var attempts = 0
            var reported = ""
            while true {
                do throws(Refusal) {
                    return put(.registered(try register(startingService: false), afterWaiting: !reported.isEmpty))
                } catch {
                    guard error.reason == .unavailable else { return put(.failed(error)) }
                    attempts += 1
                    let why = error.detail ?? error.message
                    // A room that is merely restarting is available at the second attempt.
                    if attempts > 1, why != reported {
                        reported = why
                        put(.waits(why))
                    }
                    poll(nil, 0, backoff.pause())
                }
            }
        }
    }

    /// Returns and removes the news, oldest first.
    func take() -> [News] {
        wakeup.clear()
        return news.withLock { news in
            defer { news = [] }
            return news
        }
    }

    private func put(_ item: News) {
        news.withLock { $0.append(item) }
        wakeup.signal()
    }

    // MARK: Running on a terminal

    /// Serves until a signal ends the process. Throws if prompts can no longer appear here. Calls `tell` with sentences for the user.
    func run(_ first: PromptAgent, report: (String) -> Void) throws -> Never {
        var agent = first
        while true {
            let ended = agent.run()
            guard ended.reason == .unavailable else { throw ended }
            try registerAgain()
            var next: PromptAgent?
            while next == nil {
                _ = wakeup.wait(until: .max)
                for item in take() {
                    if case .failed(let refusal) = item { throw refusal }
                    if case .registered(let registered, _) = item { next = registered }
                    if let sentence = item.sentence { report(sentence) }
                }
            }
            if let next { agent = next }
        }
    }
}

extension AgentRegistration.News {
    /// The sentence for the user; nil for none.
    var sentence: String? {
        switch self {
        case .waits(let why): "Prompts cannot appear here now: \(why)."
        case .registered(_, afterWaiting: true): "Prompts appear here again."
        case .registered(_, afterWaiting: false): nil
        case .failed(let refusal): "Prompts can no longer appear here: \(refusal.detail ?? refusal.message)."
        }
    }
}
