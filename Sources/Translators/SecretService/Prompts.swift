internal import Synchronization
internal import VaubanLinuxHost

/// The prompts of the protocol. Each prompts the user to unlock the keychain on a separate thread, then does the work that its caller
/// requested.
final class Prompts: Sendable {
    /// The work after the unlock. It returns the result with which the prompt completes.
    typealias Action = @Sendable (UnlockWait) throws -> BusValue

    private struct Prompt: Sendable {
        let client: String
        let share: ClientShare
        let action: Action
        /// The result of a dismissed prompt.
        let nothing: BusValue
        let wait: UnlockWait
        var hasBegun = false
    }

    private struct State: Sendable {
        var prompts: [String: Prompt] = [:]
        var lastNumber = 0
    }

    private static let interface = "org.freedesktop.Secret.Prompt"
    private let state = Mutex(State())
    private let keychainLock: KeychainLock
    private let send: @Sendable (BusOutgoing) -> Void

    init(_ keychainLock: KeychainLock, send: @escaping @Sendable (BusOutgoing) -> Void) {
        self.keychainLock = keychainLock
        self.send = send
    }

    /// Creates a prompt for a client; it does nothing until the client shows it.
    func make(for client: BusClient, nothing: BusValue, _ action: @escaping Action) throws(BusFailure) -> String {
        guard let wait = try? UnlockWait() else { throw BusFailure(.limitsExceeded, "There are too many prompts") }
        let path: String? = state.withLock { state in
            // The client may have left meanwhile, and nothing would end its prompt.
            guard !client.cancellation.isCancelled, state.prompts.count < SecretServiceLimits.promptsMax,
                state.prompts.values.count(where: { $0.share == client.share }) < SecretServiceLimits.promptsOfShareMax
            else { return nil }
            state.lastNumber += 1
            let path = "\(ObjectPath.root)/prompt/p\(state.lastNumber)"
            state.prompts[path] = Prompt(client: client.name, share: client.share, action: action, nothing: nothing, wait: wait)
            return path
        }
        guard let path else { throw BusFailure(.limitsExceeded, "There are too many prompts") }
        return path
    }

    func show(_ path: String, for client: BusClient) throws(BusFailure) {
        let prompt: Prompt? = state.withLock { state in
            guard let prompt = state.prompts[path], prompt.client == client.name, !prompt.hasBegun else { return nil }
            state.prompts[path]?.hasBegun = true
            return prompt
        }
        guard let prompt else { throw .noSuchObject }
        do throws(SystemError) {
            try HostThread.start { [self] in
                let isUnlocked = keychainLock.unlock(for: client, prompt.wait, send)
                let result = isUnlocked ? try? prompt.action(prompt.wait) : nil
                complete(path, result)
            }
        } catch {
            complete(path, nil)
        }
    }

    func dismiss(_ path: String, by client: BusClient) throws(BusFailure) {
        guard let prompt = state.withLock({ $0.prompts[path] }), prompt.client == client.name else { throw .noSuchObject }
        // Also a prompt that another call begins to show meanwhile.
        prompt.wait.cancel()
        if !prompt.hasBegun { complete(path, nil) }
    }

    /// Ends the prompts of a client that left the bus.
    func end(of client: String) {
        let left: [Prompt] = state.withLock { state in
            let left = state.prompts.filter { $0.value.client == client }
            for path in left.keys { state.prompts[path] = nil }
            return Array(left.values)
        }
        for prompt in left { prompt.wait.cancel() }
    }

    private func complete(_ path: String, _ result: BusValue?) {
        guard let prompt = state.withLock({ $0.prompts.removeValue(forKey: path) }) else { return }
        let values: [BusValue] = [.boolean(result == nil), .variant(result ?? prompt.nothing)]
        send(.signal(path: path, interface: Self.interface, member: "Completed", values, destination: prompt.client))
    }
}
