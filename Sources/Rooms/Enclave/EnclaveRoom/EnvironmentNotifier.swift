import Dispatch
internal import VaubanLinuxHost

/// Reports changed environments to authd (Specs/environment.md). It uses a separate thread, so that an authd that does not read delays
/// neither a lock nor the thread that found the change.
final class EnvironmentNotifier: Sendable {
    private let prompts: PromptConnection
    private let changedUsers = ThreadMutex<Set<UInt32>>([])
    private let available = DispatchSemaphore(value: 0)

    init(_ prompts: PromptConnection) { self.prompts = prompts }

    func notify(_ user: UInt32) { if changedUsers.withLock({ $0.insert(user).inserted }) { available.signal() } }

    func start() {
        HostThread.startForLife { [self] in
            while true {
                available.wait()
                let user = changedUsers.withLock { $0.popFirst() }
                if let user { prompts.sendEnvironmentChange(of: user) }
            }
        }
    }
}
