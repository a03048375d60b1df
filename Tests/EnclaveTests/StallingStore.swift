import Dispatch
import Enclave
import Synchronization

/// A store in memory whose disk stops answering for one user until it is released.
final class StallingStore: StateStore {
    private let inner: MemoryStore
    private let user: UInt32
    private let isStalling = Mutex(false)
    private let reached = DispatchSemaphore(value: 0)
    private let mayContinue = DispatchSemaphore(value: 0)
    private let written: @Sendable (StateName, _ user: UInt32) -> Void

    /// Calls `written` after each write.
    init(_ inner: MemoryStore, of user: UInt32, written: @escaping @Sendable (StateName, UInt32) -> Void = { _, _ in }) {
        self.inner = inner
        self.user = user
        self.written = written
    }

    func stall() { isStalling.withLock { $0 = true } }
    func waitUntilStalled() { reached.wait() }

    func release() {
        isStalling.withLock { $0 = false }
        mayContinue.signal()
    }

    private func pass(_ user: UInt32) {
        guard user == self.user, isStalling.withLock({ $0 }) else { return }
        reached.signal()
        mayContinue.wait()
    }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        pass(user)
        return try inner.read(name, of: user, max: max)
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        pass(user)
        try inner.replace(name, of: user, with: bytes)
        written(name, user)
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String { try inner.quarantine(name, of: user) }
    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] { try inner.quarantined(name, of: user) }
}
