import Glibc
import Synchronization
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// keychaind's word of changes of synchronizable items on this device.
enum LocalChanges {
    /// Signals each change, on a thread of its own, for as long as the process runs: also at the beginning, and when the service has
    /// started again. Starts no service.
    static func follow(of service: Service, waking wakeup: Wakeup) throws(SystemError) {
        try HostThread.start {
            let client = KeychainClient(service: service, startsService: false)
            var backoff = Backoff(from: 100, to: 10_000)
            var known: Int64?
            var told: String?
            while true {
                let began = MachineClock.monotonic
                do throws(Refusal) {
                    let number = try client.synchronizableChanges(since: known)
                    if number != known { wakeup.signal() }
                    (known, told) = (number, nil)
                } catch {
                    // A stopped service says itself when it is back.
                    if error.reason != .unavailable || error.detail != nil, error.message != told {
                        told = error.message
                        say("Changes on this device are not noticed at once: \(error.message)")
                    }
                    poll(nil, 0, backoff.pause(afterConnectionLasting: MachineClock.monotonic - began))
                }
            }
        }
    }
}

/// Signals that a keychain which was found locked is unlocked.
final class UnlockWatch: Sendable {
    private let service: Service
    private let wakeup: Wakeup
    private let waits = Mutex(false)
    private let listener = Mutex<EnvironmentListener?>(nil)

    init(of service: Service, waking wakeup: Wakeup) throws(SystemError) {
        (self.service, self.wakeup) = (service, wakeup)
        let listener = try EnvironmentListener(
            service: { service },
            look: { [weak self] isReachable in isReachable && self?.look() ?? true })
        try listener.start()
        self.listener.withLock { $0 = listener }
    }

    deinit { listener.withLock { $0?.end() } }

    /// Has the next time that the keychain is unlocked signalled; now, if it is.
    func wake() {
        waits.withLock { $0 = true }
        _ = look()
    }

    /// Returns whether the service said what the lock state is.
    private func look() -> Bool {
        guard let device = try? AuthenticationClient(service: service, startsService: false).status().device else { return false }
        let isWoken = waits.withLock { waits in
            guard waits, device.lock == .unlocked else { return false }
            waits = false
            return true
        }
        if isWoken { wakeup.signal() }
        return true
    }
}
