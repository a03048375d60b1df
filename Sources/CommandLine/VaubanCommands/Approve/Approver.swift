import Glibc
import Synchronization
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal

/// Registers an approver's agents: one at first, and another each time that the service has ended and runs again.
final class Approver: Sendable {
    private let service: Service
    private let place: String
    private let surface: any PromptSurface
    private let result = Mutex<Result<PromptAgent, Refusal>?>(nil)
    private let wakeup: Wakeup
    private let tell: @Sendable (String) -> Void

    /// `tell` is called on another thread, with a sentence for the user.
    init(of service: Service, place: String, surface: any PromptSurface, tell: @escaping @Sendable (String) -> Void) throws(SystemError) {
        self.service = service
        self.place = place
        self.surface = surface
        self.tell = tell
        wakeup = try Wakeup()
    }

    /// Returns the first agent; starts a service that is not running.
    func register() throws(Refusal) -> PromptAgent { try register(startingService: true) }

    private func register(startingService: Bool) throws(Refusal) -> PromptAgent {
        try PromptAgent.forEveryCaller(of: service, place: place, surface: surface, startsService: startingService)
    }

    // MARK: Again

    /// Readable once `take` has something.
    var descriptor: Descriptor { wakeup.descriptor }

    /// Registers again on a thread of its own, as soon as the service runs, which this does not start: the user may have stopped it.
    func registerAgain() throws(SystemError) {
        try HostThread.start { [self] in
            var backoff = Backoff(from: 100, to: 5_000)
            var attempts = 0
            while true {
                do throws(Refusal) {
                    let agent = try register(startingService: false)
                    if attempts > 1 { tell("Prompts appear here again.") }
                    return put(.success(agent))
                } catch {
                    guard error.reason == .unavailable else { return put(.failure(error)) }
                    attempts += 1
                    // A room that was started again is there at the second attempt.
                    if attempts == 2 { tell("Vauban is stopped. Prompts appear here again once it runs.") }
                    poll(nil, 0, backoff.pause(afterConnectionLasting: 0))
                }
            }
        }
    }

    /// Returns the agent that was registered again, or why none can be; nil for neither yet.
    func take() -> Result<PromptAgent, Refusal>? {
        wakeup.clear()
        return result.withLock { result in
            defer { result = nil }
            return result
        }
    }

    private func put(_ new: Result<PromptAgent, Refusal>) {
        result.withLock { $0 = new }
        wakeup.signal()
    }

    // MARK: A terminal of its own

    /// Serves until a signal ends the process. Throws if prompts cannot appear here any more.
    func run(_ first: PromptAgent) throws -> Never {
        var agent = first
        while true {
            let ended = agent.run()
            guard ended.reason == .unavailable else { throw ended }
            try registerAgain()
            _ = wakeup.wait(until: .max)
            guard let result = take() else { throw Refusal(.internalError, "waiting for the service failed") }
            agent = try result.get()
        }
    }
}
