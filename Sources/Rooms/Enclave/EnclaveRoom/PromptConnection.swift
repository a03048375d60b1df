// The standing connection to authd, for prompts and reports. authd can report that the user cancelled, or pass on a sealed passcode; no
// message of it can grant anything.

import Enclave
import EnclaveWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// An event for a prompt or a reader request.
enum PromptEvent: Sendable {
    case report(PromptReport)
    /// The reader's verdict, authenticated by its key, with the key that it held for this user, if any.
    case verdict(ReaderVerdict, HeldSecret?)
    /// A hint from the reader, which is only shown to the user.
    case hint(nonce: [UInt8], FingerHint, done: Int64, total: Int64)
    /// The names of the enrolled fingers, as requested.
    case fingers(nonce: [UInt8], [String])
    case readerGone
    /// The user's keychain was locked, or its keys changed.
    case closed
}

/// One prompt or reader request that waits for events.
final class PendingPrompt: Sendable {
    let prompt: [UInt8]
    let user: UInt32
    /// The number of the process that waits for it.
    let process: Int32
    let wakeup: Wakeup
    private let events = ThreadMutex<(list: [PromptEvent], isAbandoned: Bool)>(([], false))

    init(prompt: [UInt8], for caller: Peer) throws(SystemError) {
        self.prompt = prompt
        user = caller.uid
        process = caller.pid
        wakeup = try Wakeup()
    }

    func next() -> PromptEvent? { events.withLock { $0.list.isEmpty ? nil : $0.list.removeFirst() } }
    var isAbandoned: Bool { events.withLock { $0.isAbandoned } }

    func report(_ event: PromptEvent) {
        events.withLock { $0.list.append(event) }
        wakeup.signal()
    }

    func abandon() {
        events.withLock { $0.isAbandoned = true }
        wakeup.signal()
    }
}

final class PromptConnection: Sendable {
    private struct State {
        var channel: Channel?
        var pending: [[UInt8]: RegisteredPrompt] = [:]
        /// Threads that wait for a connection.
        var awaitingConnection: [Wakeup] = []

        mutating func connect(_ prompt: PendingPrompt, orAwaitWith wakeup: Wakeup?) -> Channel? {
            if channel == nil, let wakeup { awaitingConnection.append(wakeup) }
            pending[prompt.prompt]?.channel = channel
            return channel
        }
    }

    private struct RegisteredPrompt {
        let prompt: PendingPrompt
        /// The connection over which it was sent; nil until then.
        var channel: Channel?
    }

    private let keyCard: Descriptor
    private let state = ThreadMutex(State())

    init(keyCard: Descriptor) { self.keyCard = keyCard }

    /// Serves authd's connection until it ends. A newer connection replaces an older one. Calls `began` when the connection is in place.
    func serve(_ channel: Channel, began: () -> Void) {
        replace(nil, with: channel)
        began()
        defer { replace(channel, with: nil) }
        while let message = try? channel.receive(.idle) {
            guard message.secret == nil, message.descriptors.isEmpty, let report = try? PromptReport(derBytes: message.header) else {
                return
            }
            let prompt =
                switch report {
                case .shown(let prompt, _), .waiting(let prompt, _): prompt
                case .answered(let prompt, _, _): prompt
                }
            state.withLock { $0.pending[prompt]?.prompt }?.report(.report(report))
        }
    }

    /// Replaces the connection. Prompts that were sent over the old one are abandoned, since authd no longer has them; prompts that were
    /// not sent yet use the new one. `ended` is the connection that ended, which is ignored if it was already replaced; nil if a new one
    /// arrives.
    private func replace(_ ended: Channel?, with channel: Channel?) {
        let (old, abandoned): (Channel?, [PendingPrompt]) = state.withLock { state in
            guard ended == nil || state.channel === ended else { return (nil, []) }
            let before = (state.channel, state.pending.values.filter { $0.channel != nil }.map(\.prompt))
            state.channel = channel
            if channel != nil { for wakeup in state.awaitingConnection { wakeup.signal() } }
            return before
        }
        old?.shutDown()
        for pending in abandoned { pending.abandon() }
    }

    /// Registers a prompt to the caller's user, or a request to the reader on their behalf. Throws if too many wait already.
    func begin(for caller: Peer) throws(Refusal) -> PendingPrompt {
        let pending: PendingPrompt
        do throws(SystemError) { pending = try PendingPrompt(prompt: try Entropy.bytes(16), for: caller) } catch {
            throw Refusal(.internalError, "a prompt cannot be made")
        }
        let excess: String? = state.withLock { state in
            let ofUser = state.pending.values.filter { $0.prompt.user == pending.user }
            if ofUser.count >= EnclaveLimits.promptsPerUserMax { return "Too many prompts" }
            let ofProcess = ofUser.count(where: { $0.prompt.process == pending.process })
            if ofProcess >= EnclaveLimits.promptsPerProcessMax { return "Too many prompts of this program" }
            state.pending[pending.prompt] = RegisteredPrompt(prompt: pending)
            return nil
        }
        if let excess { throw Refusal(.interactionNotAllowed, "\(excess) wait for you already; answer or cancel them, then try again") }
        return pending
    }

    /// Notifies everything that waits for this user that the keychain was locked or changed.
    func closeAll(of user: UInt32) {
        let waiting = state.withLock { state in state.pending.values.map(\.prompt).filter { $0.user == user } }
        for pending in waiting { pending.report(.closed) }
    }

    /// Removes a request that was never shown.
    func forget(_ pending: PendingPrompt) { state.withLock { $0.pending[pending.prompt] = nil } }

    /// Removes the prompt from the user's screen and reports how it ended.
    func end(_ pending: PendingPrompt, _ outcome: PromptOutcome) {
        let channel = state.withLock { state in
            state.pending[pending.prompt] = nil
            return state.channel
        }
        guard let channel, let header = try? PromptNotice.resolved(prompt: pending.prompt, outcome).encoded() else { return }
        _ = try? channel.send(header: header)
    }

    /// Updates the prompt on the screen. If authd cannot be reached, only the display is out of date.
    func update(_ pending: PendingPrompt, _ update: PromptUpdate) {
        let channel = state.withLock { $0.pending[pending.prompt]?.channel }
        guard let channel, let header = try? PromptNotice.update(prompt: pending.prompt, update).encoded() else { return }
        _ = try? channel.send(header: header)
    }

    /// Notifies authd that the user's environment changed. An authd that is not connected now checks when it connects.
    func sendEnvironmentChange(of user: UInt32) {
        guard let channel = state.withLock({ $0.channel }), let header = try? PromptNotice.changed(user: user).encoded() else {
            return
        }
        _ = try? channel.send(header: header)
    }

    func ask(_ request: PromptRequest, _ pending: PendingPrompt) throws(Refusal) {
        guard let channel = standingChannel(for: pending) else { throw Refusal(.noPromptAgent, "the prompt service is not running") }
        do {
            try channel.send(header: try PromptNotice.ask(request).encoded(), descriptors: [keyCard])
        } catch {
            throw Refusal(.noPromptAgent, "the prompt service does not answer")
        }
    }

    /// Returns the connection that the prompt uses from now on. Waits briefly for one if the rooms have just started.
    private func standingChannel(for pending: PendingPrompt) -> Channel? {
        guard let wakeup = try? Wakeup() else { return nil }
        if let channel = state.withLock({ $0.connect(pending, orAwaitWith: wakeup) }) { return channel }
        _ = wakeup.wait(until: MachineClock.monotonic + EnclaveLimits.promptConnectionTimeout)
        return state.withLock { state in
            state.awaitingConnection.removeAll { $0 === wakeup }
            return state.connect(pending, orAwaitWith: nil)
        }
    }
}
