import Foundation
internal import VaubanLinuxHost

/// Tells authd whose environment is another (Specs/environment.md), on a thread of its own: an authd that does not read must not hold up a
/// lock, nor whoever else found the change.
final class EnvironmentNotifier: Sendable {
    private let attention: PromptConnection
    private let people = ThreadMutex<Set<UInt32>>([])
    private let some = DispatchSemaphore(value: 0)

    init(_ attention: PromptConnection) { self.attention = attention }

    func tell(of user: UInt32) { if people.withLock({ $0.insert(user).inserted }) { some.signal() } }

    func start() {
        let thread = Thread { [self] in
            while true {
                some.wait()
                let user = people.withLock { $0.popFirst() }
                if let user { attention.changed(user) }
            }
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}
