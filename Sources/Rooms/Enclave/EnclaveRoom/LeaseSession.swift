// The standing connection over which keychaind gives leased keys back.

import Enclave
import EnclaveWire
import VaubanDER
import VaubanLinuxHost

final class LeaseSession: Sendable {
    private struct State {
        var channel: Channel?
        /// The last epoch that was given back, by user.
        var erased: [UInt32: Int64] = [:]
        var waiting: [Wakeup] = []
    }

    private let state = ThreadMutex(State())

    func serve(_ channel: Channel) {
        let old = state.withLock { state in
            defer {
                state.channel = channel
                state.erased = [:]
            }
            return state.channel
        }
        old?.shutDown()
        // Sent only now: an earlier recall would not have found this connection, and nothing may be leased that cannot be recalled.
        if let standing = try? LeaseStanding().encoded() { _ = try? channel.send(header: standing) }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let erased = try? LeaseErased(derBytes: message.header) else { break }
            let waiting = state.withLock { state in
                state.erased[erased.user] = max(state.erased[erased.user] ?? 0, erased.epoch)
                return state.waiting
            }
            for wakeup in waiting { wakeup.signal() }
        }
        // keychaind erases everything when the connection ends, so a lock that waits for it is complete; the connection must be down by
        // then.
        channel.shutDown()
        let waiting = state.withLock { state in
            if state.channel === channel { state.channel = nil }
            return state.waiting
        }
        for wakeup in waiting { wakeup.signal() }
    }

    var isStanding: Bool { state.withLock { $0.channel != nil } }

    /// Recalls users' leased keys, all at once, and waits with one timeout for all of them. Returns false if keychaind did not answer in
    /// time and was disconnected.
    func recall(_ recalls: [LeaseRecall]) -> Bool {
        guard !recalls.isEmpty, let channel = state.withLock({ $0.channel }) else { return true }
        guard let wakeup = try? Wakeup(), let headers = try? recalls.map({ try $0.encoded() }) else {
            channel.shutDown()
            return false
        }
        state.withLock { $0.waiting.append(wakeup) }
        defer { state.withLock { $0.waiting.removeAll { $0 === wakeup } } }
        // If the message cannot be sent, the attempt has shut the connection down, which ends the lease.
        for header in headers { guard (try? channel.send(header: header)) != nil else { return false } }
        let deadline = MachineClock.monotonic + EnclaveLimits.recallTimeout
        while true {
            let isDone = state.withLock { state in
                state.channel !== channel || recalls.allSatisfy { state.erased[$0.user] ?? -1 >= $0.epoch }
            }
            if isDone { return true }
            if case .deadline = wakeup.wait(until: deadline) {
                channel.shutDown()
                return false
            }
        }
    }
}
