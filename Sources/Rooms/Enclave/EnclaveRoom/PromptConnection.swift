// The line to authd: questions go out, reports come in. authd can say that the user cancelled or gave a sealed
// passcode; it cannot say yes.

import Enclave
import EnclaveWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

/// What comes of a question.
enum PromptEvent: Sendable {
    case report(PromptReport)
    /// Of the reader, under its key; with what it held for this user, if it did.
    case verdict(ReaderVerdict, HeldSecret?)
    /// How it goes at the reader, for the user alone.
    case hint(nonce: [UInt8], FingerHint, done: Int64, total: Int64)
    /// What was asked for by a ceremony: the names of the fingers.
    case fingers(nonce: [UInt8], [String])
    case readerGone
    /// The user's keychain was locked, or got other keys.
    case closed
}

/// One prompt that waits for events.
final class PendingPrompt: Sendable {
    let prompt: [UInt8]
    let user: UInt32
    let wakeup: Wakeup
    private let events = ThreadMutex<(list: [PromptEvent], isAbandoned: Bool)>(([], false))

    init(prompt: [UInt8], user: UInt32) throws(SystemError) {
        self.prompt = prompt
        self.user = user
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
        var pending: [[UInt8]: Waiting] = [:]
        /// Who waits for a line.
        var expecting: [Wakeup] = []

        mutating func take(_ prompt: PendingPrompt, orExpectWith wakeup: Wakeup?) -> Channel? {
            if channel == nil, let wakeup { expecting.append(wakeup) }
            pending[prompt.prompt]?.line = channel
            return channel
        }
    }

    private struct Waiting {
        let prompt: PendingPrompt
        /// The line over which it was asked.
        var line: Channel?
    }

    private let keyCard: Descriptor
    private let state = ThreadMutex(State())

    init(keyCard: Descriptor) { self.keyCard = keyCard }

    /// Holds authd's connection until it ends. A newer one takes the place of an older.
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

    /// The prompts of the line that was are not known to the one that comes; those that were not asked yet go over it. A line that ends
    /// goes only if it has not
    /// been replaced: `ended` is that one, or nil when a new one comes.
    private func replace(_ ended: Channel?, with channel: Channel?) {
        let (old, abandoned): (Channel?, [PendingPrompt]) = state.withLock { state in
            guard ended == nil || state.channel === ended else { return (nil, []) }
            let before = (state.channel, state.pending.values.filter { $0.line != nil }.map(\.prompt))
            state.channel = channel
            if channel != nil { for wakeup in state.expecting { wakeup.signal() } }
            return before
        }
        old?.shutDown()
        for pending in abandoned { pending.abandon() }
    }

    /// For a question to this user, or for a ceremony that they are at.
    func begin(for user: UInt32) throws(Refusal) -> PendingPrompt {
        let pending: PendingPrompt
        do throws(SystemError) { pending = try PendingPrompt(prompt: try Entropy.bytes(16), user: user) } catch {
            throw Refusal(.internalFault, "a prompt cannot be made")
        }
        state.withLock { $0.pending[pending.prompt] = Waiting(prompt: pending) }
        return pending
    }

    /// Tells whatever waits for this user that what it was begun over is closed now.
    func closed(_ user: UInt32) {
        let waiting = state.withLock { state in state.pending.values.map(\.prompt).filter { $0.user == user } }
        for pending in waiting { pending.report(.closed) }
    }

    /// Forgets what was never on a screen.
    func forget(_ pending: PendingPrompt) { state.withLock { $0.pending[pending.prompt] = nil } }

    /// Takes the prompt off the user's screen, with the word for how it ended.
    func end(_ pending: PendingPrompt, _ outcome: PromptOutcome) {
        let channel = state.withLock { state in
            state.pending[pending.prompt] = nil
            return state.channel
        }
        guard let channel, let header = try? PromptNotice.settled(prompt: pending.prompt, outcome).encoded() else { return }
        _ = try? channel.send(header: header)
    }

    /// Tells whoever has the prompt on the screen. One that does not hear it misses a picture, and nothing else.
    func update(_ pending: PendingPrompt, _ update: PromptUpdate) {
        let channel = state.withLock { $0.pending[pending.prompt]?.line }
        guard let channel, let header = try? PromptNotice.update(prompt: pending.prompt, update).encoded() else { return }
        _ = try? channel.send(header: header)
    }

    /// Tells authd, for whoever watches. One that does not hear it looks when its line stands again.
    func changed(_ user: UInt32) {
        guard let channel = state.withLock({ $0.channel }), let header = try? PromptNotice.changed(user: user).encoded() else {
            return
        }
        _ = try? channel.send(header: header)
    }

    func ask(_ question: PromptQuestion, _ pending: PendingPrompt) throws(Refusal) {
        guard let channel = standingChannel(for: pending) else { throw Refusal(.nobodyToAsk, "the prompt service is not running") }
        do {
            try channel.send(header: try PromptNotice.ask(question).encoded(), descriptors: [keyCard])
        } catch {
            throw Refusal(.nobodyToAsk, "the prompt service does not answer")
        }
    }

    /// authd's line, over which the prompt goes from now on; waits a moment for it where rooms have just started.
    private func standingChannel(for pending: PendingPrompt) -> Channel? {
        guard let wakeup = try? Wakeup() else { return nil }
        if let channel = state.withLock({ $0.take(pending, orExpectWith: wakeup) }) { return channel }
        _ = wakeup.wait(until: MachineClock.monotonic + EnclaveLimits.attentionTime)
        return state.withLock { state in
            state.expecting.removeAll { $0 === wakeup }
            return state.take(pending, orExpectWith: nil)
        }
    }
}
