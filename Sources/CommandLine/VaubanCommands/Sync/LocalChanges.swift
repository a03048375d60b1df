import Glibc
import Synchronization
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// Notices from keychaind about changed synchronizable items on this device.
final class LocalChanges: Sendable {
    /// The items that have changed since the last `take`; nil if not all are known.
    private let changed = Mutex<Set<[UInt8]>?>(nil)

    /// Starts a separate thread that signals each change, for as long as the process runs; also once at the beginning, and when the service
    /// has restarted. Does not start the service.
    init(of service: Service, waking wakeup: Wakeup) throws(SystemError) {
        try HostThread.start { [self] in follow(service, wakeup) }
    }

    /// Returns and clears the items that have changed; nil if not all are known.
    func take() -> [[UInt8]]? {
        changed.withLock { changed in
            defer { changed = [] }
            guard let changed, changed.count <= SyncRequest.changedItemsMax else { return nil }
            return Array(changed)
        }
    }

    private func follow(_ service: Service, _ wakeup: Wakeup) -> Never {
        let client = KeychainClient(service: service, startsService: false)
        var backoff = Backoff(from: 100, to: 10_000)
        var known: Int64?
        var reported: String?
        while true {
            let began = MachineClock.monotonic
            do throws(Refusal) {
                let (number, items) = try client.synchronizableChanges(since: known)
                if number != known {
                    note(items)
                    wakeup.signal()
                }
                (known, reported) = (number, nil)
            } catch {
                // The service reports its own restart.
                if error.reason != .unavailable || error.detail != nil, error.message != reported {
                    reported = error.message
                    say("Changes on this device are not noticed at once: \(error.message)")
                }
                poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - began))
            }
        }
    }

    private func note(_ items: [[UInt8]]?) {
        changed.withLock { changed in
            guard let items else { return changed = nil }
            changed?.formUnion(items)
        }
    }
}

/// A watch that signals when a keychain that was found locked is unlocked, and when one that was unlocked is locked.
final class UnlockMonitor: Sendable {
    private let service: Service
    private let wakeup: Wakeup
    private let waits = Mutex(false)
    private let isLocked = Mutex(false)
    private let listener = Mutex<EnvironmentListener?>(nil)

    init(of service: Service, waking wakeup: Wakeup) throws(SystemError) {
        (self.service, self.wakeup) = (service, wakeup)
        let listener = try EnvironmentListener(
            service: { service },
            onChange: { [weak self] isReachable in isReachable && self?.checkLockState() ?? true })
        try listener.start()
        self.listener.withLock { $0 = listener }
    }

    deinit { listener.withLock { $0?.end() } }

    /// Signals now if the keychain is unlocked, otherwise at the next unlock.
    func wake() {
        waits.withLock { $0 = true }
        _ = checkLockState()
    }

    /// Returns whether the keychain was found locked since the last call.
    func takeLock() -> Bool {
        isLocked.withLock { isLocked in
            defer { isLocked = false }
            return isLocked
        }
    }

    /// Reads the lock state, and signals if needed. Returns false if the service cannot be reached.
    private func checkLockState() -> Bool {
        guard let device = try? AuthenticationClient(service: service, startsService: false).status().device else { return false }
        let isUnlocked = device.lock == .unlocked
        if !isUnlocked { isLocked.withLock { $0 = true } }
        let isWoken = waits.withLock { waits in
            guard waits else { return !isUnlocked }
            if isUnlocked { waits = false }
            return isUnlocked
        }
        if isWoken { wakeup.signal() }
        return true
    }
}
