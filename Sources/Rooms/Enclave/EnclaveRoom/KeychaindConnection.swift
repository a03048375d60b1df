// The standing connection over which the enclave recalls leased keys from keychaind, and sends it notices of uses of private keys.

import Enclave
import EnclaveWire
import VaubanDER
import VaubanLinuxHost

final class KeychaindConnection: Sendable {
    private struct State {
        var channel: Channel?
        /// The last epoch whose keys keychaind has erased, by user.
        var erased: [UInt32: Int64] = [:]
        var waiting: [Wakeup] = []
        /// Whether keychaind has not confirmed a notice about private keys yet, and whether a thread waits for that.
        var isReporting = false
        var reporterWaits = false
        /// The notice for which no thread waits any longer, and the connection on which keychaind may still confirm it.
        var late: (notice: KeyUseNotice, channel: Channel)?
    }

    private let state = ThreadMutex(State())
    private let noted: Wakeup
    /// Called when notices that could not be sent before can be sent.
    private let canReport: @Sendable () -> Void

    init(canReport: @escaping @Sendable () -> Void) throws(SystemError) {
        noted = try Wakeup()
        self.canReport = canReport
    }

    func serve(_ channel: Channel) {
        let old = state.withLock { state in
            defer {
                state.channel = channel
                state.erased = [:]
                state.isReporting = false
            }
            return state.channel
        }
        old?.shutDown()
        // Sent only now: an earlier recall would not have found this connection, and nothing may be leased that cannot be recalled.
        if let standing = try? LeaseStanding().encoded() { _ = try? channel.send(header: standing) }
        canReport()
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty else { break }
            guard let erased = try? LeaseErased(derBytes: message.header) else {
                guard (try? KeyUsesNoted(derBytes: message.header)) != nil else { break }
                hasNoted(on: channel)
                continue
            }
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
        noted.signal()
    }

    // MARK: Uses of private keys

    /// Sends keychaind a notice of uses of private keys. Returns false if none can be sent now, or if the connection ended before keychaind
    /// confirmed it. At most one notice is in transit, so that a keychaind that hangs delays no recall; only one thread may report at a
    /// time.
    func report(_ notice: KeyUseNotice) -> Bool {
        guard let header = try? notice.encoded() else { return true }
        let standing = state.withLock { state -> Channel? in
            guard let channel = state.channel, !state.isReporting, state.late == nil else { return nil }
            state.isReporting = true
            state.reporterWaits = true
            return channel
        }
        guard let channel = standing else { return false }
        defer { state.withLock { $0.reporterWaits = false } }
        guard (try? channel.send(header: header)) != nil else { return false }
        let deadline = MachineClock.monotonic + EnclaveLimits.recallTimeout
        while true {
            let (isOver, isDone) = state.withLock { ($0.channel !== channel, !$0.isReporting) }
            if isOver || isDone { return !isOver }
            // keychaind has received the notice, and confirms it once it continues.
            if case .deadline = noted.wait(until: deadline) { return leaveUnconfirmed(notice, on: channel) }
        }
    }

    /// Keeps a notice that keychaind may still confirm. Returns false if the connection has ended meanwhile.
    private func leaveUnconfirmed(_ notice: KeyUseNotice, on channel: Channel) -> Bool {
        state.withLock { state in
            guard state.channel === channel else { return false }
            if state.isReporting { state.late = (notice, channel) }
            return true
        }
    }

    /// Returns the notice for which no thread waited, once its connection has ended without a confirmation, so that it is sent again.
    func takeUnconfirmed() -> KeyUseNotice? {
        state.withLock { state in
            guard let late = state.late, late.channel !== state.channel else { return nil }
            state.late = nil
            return late.notice
        }
    }

    private func hasNoted(on channel: Channel) {
        let isAwaited: Bool? = state.withLock { state in
            // A confirmation on an earlier connection does not concern this one.
            guard state.channel === channel else { return nil }
            state.isReporting = false
            state.late = nil
            return state.reporterWaits
        }
        guard let isAwaited else { return }
        if isAwaited { noted.signal() } else { canReport() }
    }

    // MARK: Recalls

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
        let isDone = wakeup.wait(until: deadline) {
            state.withLock { state in state.channel !== channel || recalls.allSatisfy { state.erased[$0.user] ?? -1 >= $0.epoch } }
        }
        if !isDone { channel.shutDown() }
        return isDone
    }
}
