// The standing connection to the fingerprint reader (Specs/reader.md). The reader reports the result of its sensor for one challenge, and
// the enclave decides what that allows.

import Enclave
import EnclaveWire
import Logging
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
internal import VaubanRoomHardening
import VaubanSecretBytes

final class ReaderConnection: Sendable {
    private struct State {
        var channel: Channel?
        var isPaired = false
        var hasSensor = false
        /// Requests that wait for a verdict, by challenge.
        var waiting: [[UInt8]: ReaderRequest] = [:]
    }

    private struct ReaderRequest {
        let user: UInt32
        let pending: PendingPrompt
        /// Whether it is an unlock, which has no prompt on the screen and yields to one.
        let isUnlock: Bool
    }

    private let host: EnclaveHost
    private let pairing: Pairing
    private let state = ThreadMutex(State())
    private let log: Logger
    private let fingerLists: FingerListUpdates

    init(host: EnclaveHost, log: Logger, fingerLists: FingerListUpdates) {
        self.host = host
        self.log = log
        self.fingerLists = fingerLists
        pairing = Pairing(host: host)
    }

    /// Serves the reader's connection until it ends. A newer connection replaces an older one. Calls `onReport` after each report, and
    /// `onEnd` when a connection has ended. This thread serves all users, so it never waits for one user's vault.
    func serve(_ channel: Channel, onReport: () -> Void, onEnd: () -> Void) {
        // The reader of a new connection holds no keys.
        if replace(nil, with: channel) { onEnd() }
        defer { if replace(channel, with: nil) { onEnd() } }
        while var message = try? channel.receive(.idle) {
            guard message.descriptors.isEmpty, let report = try? ReaderReport(derBytes: message.header) else { return }
            let held = message.takeSecret()
            let shouldContinue = handle(report, held, on: channel)
            onReport()
            ScratchMemory.scrubStack()
            guard shouldContinue else { return }
        }
    }

    /// Handles one report. Returns false to end the connection.
    private func handle(_ report: ReaderReport, _ held: consuming SecretBytes?, on channel: Channel) -> Bool {
        switch report {
        case .hello(let isPaired):
            guard held == nil else { return false }
            return handleHello(channel, isPaired)
        case .sensor(let isPresent):
            guard held == nil else { return false }
            state.withLock { state in
                if state.channel === channel { state.hasSensor = isPresent }
                host.reader.isPresent = state.isPaired && state.hasSensor
            }
            if !isPresent { abandonAll() }
            return true
        case .verdict(let verdict):
            guard state.withLock({ $0.channel === channel && $0.isPaired }), pairing.authenticates(verdict) else {
                log.warning("the reader's verdict is not authenticated by its key; its connection is ended")
                return false
            }
            deliver(verdict, HeldSecret.ofOptional(held))
            return true
        case .hint(let nonce, let hint, let done, let total):
            guard held == nil else { return false }
            waiting(for: nonce, on: channel)?.report(.hint(nonce: nonce, hint, done: done, total: total))
            return true
        case .fingers(let nonce, let names):
            guard held == nil else { return false }
            waiting(for: nonce, on: channel)?.report(.fingers(nonce: nonce, names))
            return true
        }
    }

    private func handleHello(_ channel: Channel, _ isPaired: Bool) -> Bool {
        do throws(Refusal) {
            switch try pairing.handleHello(isPaired: isPaired) {
            case .known: try send(.ready, on: channel)
            case .new(let key): try send(.pair, key.secret, on: channel)
            }
        } catch {
            log.warning("the reader cannot be paired: \(error.detail ?? "")")
            return false
        }
        state.withLock { state in
            guard state.channel === channel else { return }
            state.isPaired = true
            host.reader.isPresent = state.hasSensor
        }
        return true
    }

    private func waiting(for nonce: [UInt8], on channel: Channel) -> PendingPrompt? {
        state.withLock { $0.channel === channel ? $0.waiting[nonce]?.pending : nil }
    }

    private func deliver(_ verdict: ReaderVerdict, _ held: HeldSecret?) {
        if verdict.outcome == .changed { return fingerLists.add(verdict.fingers, of: verdict.user) }
        guard let pending = state.withLock({ $0.waiting.removeValue(forKey: verdict.nonce) })?.pending else { return }
        fingerLists.afterUpdates(of: verdict.user) { pending.report(.verdict(verdict, held)) }
    }

    // MARK: Requests

    /// Has the reader look for a finger, for a prompt that is on the screen. A touch has one meaning, so a waiting unlock yields.
    func ask(_ user: UInt32, nonce: [UInt8], _ pending: PendingPrompt) -> Bool {
        let unlocks = state.withLock { state in state.waiting.filter { $0.value.user == user && $0.value.isUnlock } }
        for (nonce, waiting) in unlocks {
            cancel(nonce)
            waiting.pending.report(.readerGone)
        }
        return begin(.ask(user: user, nonce: nonce), nonce: nonce, waiting: ReaderRequest(user: user, pending: pending, isUnlock: false))
    }

    /// Has the reader look for a finger in order to unlock, without a prompt. Fails while another touch of this user is awaited.
    func askToUnlock(_ user: UInt32, nonce: [UInt8], _ pending: PendingPrompt) -> Bool {
        begin(.ask(user: user, nonce: nonce), nonce: nonce, waiting: ReaderRequest(user: user, pending: pending, isUnlock: true))
    }

    func enroll(_ user: UInt32, nonce: [UInt8], _ pending: PendingPrompt) -> Bool {
        begin(.enroll(user: user, nonce: nonce), nonce: nonce, waiting: ReaderRequest(user: user, pending: pending, isUnlock: false))
    }

    func forgetFingers(_ user: UInt32, nonce: [UInt8], _ pending: PendingPrompt) -> Bool {
        begin(.forgetFingers(user: user, nonce: nonce), nonce: nonce, waiting: ReaderRequest(user: user, pending: pending, isUnlock: false))
    }

    func listFingers(_ user: UInt32, nonce: [UInt8], _ pending: PendingPrompt) -> Bool {
        begin(.list(user: user, nonce: nonce), nonce: nonce, waiting: ReaderRequest(user: user, pending: pending, isUnlock: false))
    }

    private func begin(_ notice: ReaderNotice, nonce: [UInt8], waiting: ReaderRequest) -> Bool {
        let channel = state.withLock { state -> Channel? in
            guard state.isPaired, state.hasSensor, let channel = state.channel else { return nil }
            if waiting.isUnlock, state.waiting.values.contains(where: { $0.user == waiting.user }) { return nil }
            state.waiting[nonce] = waiting
            return channel
        }
        guard let channel else { return false }
        do throws(Refusal) { try send(notice, on: channel) } catch {
            state.withLock { $0.waiting[nonce] = nil }
            return false
        }
        return true
    }

    func cancel(_ nonce: [UInt8]) {
        let channel = state.withLock { state in state.waiting.removeValue(forKey: nonce) == nil ? nil : state.channel }
        if let channel { try? send(.cancel(nonce: nonce), on: channel) }
    }

    /// Sends the reader the key to hold until a finger matches. Returns false if no reader can hold it.
    func hold(_ user: UInt32, _ held: HeldSecret) -> Bool {
        guard let channel = state.withLock({ $0.isPaired ? $0.channel : nil }) else { return false }
        return (try? send(.hold(user: user), held.secret, on: channel)) != nil
    }

    func drop(_ user: UInt32) {
        if let channel = state.withLock({ $0.isPaired ? $0.channel : nil }) { try? send(.drop(user: user), on: channel) }
    }

    // MARK: Connection

    /// Replaces the connection. Returns whether there was another one, which has then ended.
    private func replace(_ ended: Channel?, with channel: Channel?) -> Bool {
        let old: Channel? = state.withLock { state in
            guard ended == nil || state.channel === ended else { return nil }
            let before = state.channel
            state.channel = channel
            host.reader.beginConnection()
            state.isPaired = false
            state.hasSensor = false
            host.reader.isPresent = false
            return before
        }
        guard let old else { return false }
        old.shutDown()
        abandonAll()
        return true
    }

    private func abandonAll() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiting in waiting { waiting.pending.report(.readerGone) }
    }

    private func send(_ notice: ReaderNotice, on channel: Channel) throws(Refusal) {
        do { try channel.send(header: try notice.encoded()) } catch { throw Refusal(.biometryNotAvailable, "The reader does not answer") }
    }

    private func send(_ notice: ReaderNotice, _ secret: borrowing SecretBytes, on channel: Channel) throws(Refusal) {
        do {
            try channel.send(header: try notice.encoded(), secret: secret)
        } catch {
            throw Refusal(.biometryNotAvailable, "The reader does not answer")
        }
    }
}
