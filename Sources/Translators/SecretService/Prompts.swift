internal import Synchronization
internal import VaubanLinuxHost

/// The prompts of the protocol. Each prompts the user on a separate thread to unlock the keychain, then runs its action.
final class Prompts: Sendable {
    /// The action to run after the unlock. Returns the result with which the prompt completes.
    typealias Action = @Sendable (UnlockWait) throws -> BusValue

    private struct Prompt: Sendable {
        let number: Int
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

        /// Whether a share may have one more prompt. Sandboxed applications leave half of all prompts to the other programs.
        func hasRoom(for share: ClientShare) -> Bool {
            let ofShareMax = share.isOfSandbox ? SecretServiceLimits.promptsOfSandboxMax : SecretServiceLimits.promptsOfShareMax
            guard prompts.count < SecretServiceLimits.promptsMax, prompts.values.count(where: { $0.share == share }) < ofShareMax else {
                return false
            }
            return !share.isOfSandbox
                || prompts.values.count(where: { $0.share.isOfSandbox }) < SecretServiceLimits.promptsOfSandboxesMax
        }

        /// Removes the client's oldest prompt that is not shown; nil if there is none.
        mutating func takeOldestUnshown(of client: String) -> (path: String, prompt: Prompt)? {
            let unshown = prompts.filter { $0.value.client == client && !$0.value.hasBegun }
            guard let oldest = unshown.min(by: { $0.value.number < $1.value.number }) else { return nil }
            prompts[oldest.key] = nil
            return (oldest.key, oldest.value)
        }
    }

    private static let interface = "org.freedesktop.Secret.Prompt"
    private let state = Mutex(State())
    private let keychainLock: KeychainLock
    private let send: @Sendable (BusOutgoing) -> Void

    init(_ keychainLock: KeychainLock, send: @escaping @Sendable (BusOutgoing) -> Void) {
        self.keychainLock = keychainLock
        self.send = send
    }

    /// Creates a prompt for a client, which does nothing until the client shows it. If the client has reached its limit, its oldest prompt
    /// that is not shown is dismissed.
    func make(for client: BusClient, nothing: BusValue, _ action: @escaping Action) throws(BusError) -> String {
        guard let wait = try? UnlockWait() else { throw BusError(.limitsExceeded, "There are too many prompts") }
        let (path, dismissed): (String?, (path: String, prompt: Prompt)?) = state.withLock { state in
            var dismissed: (path: String, prompt: Prompt)?
            // The client may have left meanwhile, and nothing would remove its prompt later.
            guard !client.cancellation.isCancelled else { return (nil, nil) }
            if !state.hasRoom(for: client.share) {
                dismissed = state.takeOldestUnshown(of: client.name)
                guard dismissed != nil else { return (nil, nil) }
            }
            state.lastNumber += 1
            let path = "\(ObjectPath.root)/prompt/p\(state.lastNumber)"
            state.prompts[path] = Prompt(
                number: state.lastNumber, client: client.name, share: client.share, action: action, nothing: nothing, wait: wait)
            return (path, dismissed)
        }
        guard let path else { throw BusError(.limitsExceeded, "There are too many prompts") }
        if let (path, prompt) = dismissed { signalCompleted(path, prompt, result: nil) }
        return path
    }

    /// Shows a prompt. The call gets its reply when the prompt appears, and an error if nothing can show it in time: programs take a prompt
    /// that only completes for a refusal of the user, and some then take the secret for missing.
    func show(_ call: BusCall, for client: BusClient) throws(BusError) {
        let (path, number, arrival) = (call.path, call.number, call.arrival)
        let prompt: Prompt? = state.withLock { state in
            guard let prompt = state.prompts[path], prompt.client == client.name, !prompt.hasBegun else { return nil }
            state.prompts[path]?.hasBegun = true
            return prompt
        }
        guard let prompt else { throw .noSuchObject }
        // A second reply to the same call is ignored.
        let reply: @Sendable () -> Void = { [send] in send(.reply(number, [])) }
        do throws(SystemError) {
            try HostThread.start { [self] in
                var result: BusValue?
                switch keychainLock.unlock(for: client, prompt.wait, since: arrival, shown: reply, send) {
                case .unlocked:
                    do {
                        result = try prompt.action(prompt.wait)
                        reply()
                    } catch {
                        send(.failure(number, BusError(of: error)))
                    }
                case .refused: reply()
                // Before the signal, so that a client that waits for both gets the error.
                case .notShown(let failure): send(.failure(number, failure))
                }
                complete(path, result)
            }
        } catch {
            send(.failure(number, BusError(.limitsExceeded, "The system has no thread for the prompt")))
            complete(path, nil)
        }
    }

    func dismiss(_ path: String, by client: BusClient) throws(BusError) {
        guard let prompt = state.withLock({ $0.prompts[path] }), prompt.client == client.name else { throw .noSuchObject }
        // Also ends a prompt that another call is about to show.
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
        signalCompleted(path, prompt, result: result)
    }

    private func signalCompleted(_ path: String, _ prompt: Prompt, result: BusValue?) {
        let values: [BusValue] = [.boolean(result == nil), .variant(result ?? prompt.nothing)]
        send(.signal(path: path, interface: Self.interface, member: "Completed", values, destination: prompt.client))
    }
}
