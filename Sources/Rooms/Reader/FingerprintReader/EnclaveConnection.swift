// The connection to the enclave (Specs/reader.md), which is reestablished whenever it is lost.

internal import Crypto
internal import EnclaveWire
internal import Logging
internal import Synchronization
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanSecretBytes
internal import VaubanUserModel

/// Sends on the sensor's thread and receives on its own.
final class EnclaveConnection: Sendable {
    private struct State {
        var channel: Channel?
        var key: KeptSecret?
        var isGreeted = false
        var hasSensor = false
        /// The secrets held for users until one of their fingers matches.
        var held: [UInt32: KeptSecret] = [:]
        /// Whether a verdict was sent under the key on this connection and the enclave has sent nothing since.
        var isUnproven = false
    }

    private let address: ServerAddress
    private let store: ReaderState
    private let queue: SensorRequestQueue
    private let log: Logger
    private let state: Mutex<State>

    init(address: ServerAddress, store: ReaderState, queue: SensorRequestQueue, log: Logger) throws(SystemError) {
        self.address = address
        self.store = store
        self.queue = queue
        self.log = log
        let key = try store.key()
        state = Mutex(State(key: key))
    }

    // MARK: Sending

    /// Reports whether there is a sensor: at each change, and first on every connection.
    func reportSensor(isThere: Bool) {
        state.withLock { state in
            guard state.hasSensor != isThere else { return }
            state.hasSensor = isThere
            if state.isGreeted { Self.send(.sensor(isPresent: isThere), over: state.channel) }
        }
    }

    /// Sends a verdict under the key. A match returns the secret that is held for the user.
    func sendVerdict(_ outcome: ReaderVerdict.Outcome, of user: UInt32, nonce: [UInt8], fingers: [UInt8]) {
        state.withLock { state in
            guard state.isGreeted, let key = state.key else { return }
            let bare = ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: fingers)
            let code = key.bytes.withUnsafeBytes {
                Array(HMAC<SHA256>.authenticationCode(for: bare.covered, using: SymmetricKey(data: $0)))
            }
            let verdict = ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: fingers, code: code)
            state.isUnproven = true
            Self.send(.verdict(verdict), held: outcome == .matched ? state.held.removeValue(forKey: user) : nil, over: state.channel)
        }
        ScratchMemory.scrubStack()
    }

    func sendHint(_ hint: FingerHint, nonce: [UInt8], done: Int64 = 0, total: Int64 = 0) {
        state.withLock { Self.send(.hint(nonce: nonce, hint, done: done, total: total), over: $0.isGreeted ? $0.channel : nil) }
    }

    func sendNames(_ fingers: [String], nonce: [UInt8]) {
        state.withLock { Self.send(.fingers(nonce: nonce, fingers), over: $0.isGreeted ? $0.channel : nil) }
    }

    /// Sends a report. A failure shuts the connection down; the receiving thread detects that and establishes the next one.
    private static func send(_ report: ReaderReport, held: KeptSecret? = nil, over channel: Channel?) {
        guard let channel, let header = try? report.encoded() else { return }
        if let held { _ = try? channel.send(header: header, secret: held.bytes) } else { _ = try? channel.send(header: header) }
    }

    // MARK: Receiving

    func run() -> Never {
        StandingConnection(address, role: EnclaveRole.reader.rawValue).keep(
            serve: { try serve($0) }, lost: { log.notice("the connection to the enclave is lost", metadata: ["why": "\($0)"]) })
    }

    private func serve(_ channel: Channel) throws -> Never {
        let isPaired = state.withLock { state in
            state.channel = channel
            state.isGreeted = false
            state.isUnproven = false
            return state.key != nil
        }
        defer { end() }
        try channel.send(header: try ReaderReport.hello(isPaired: isPaired).encoded())
        while true {
            var message = try channel.receive(.idle)
            guard message.descriptors.isEmpty else { throw ChannelError.malformed("a notice carries a descriptor") }
            let notice = try ReaderNotice(derBytes: message.header)
            state.withLock { $0.isUnproven = false }
            try handle(notice, message.takeSecret())
            ScratchMemory.scrubStack()
        }
    }

    private func handle(_ notice: ReaderNotice, _ bytes: consuming SecretBytes?) throws {
        let secret = KeptSecret.ofOptional(bytes)
        switch notice {
        case .pair:
            guard let secret else { throw ChannelError.malformed("a pairing without a key") }
            // Stored before it is used, so that after a restart the reader still has the key under which it sent something.
            try store.setKey(secret)
            completeGreeting(with: secret)
        case .ready: completeGreeting(with: nil)
        case .hold(let user):
            guard let secret else { throw ChannelError.malformed("there is nothing to hold") }
            state.withLock { $0.held[user] = secret }
        case .drop(let user): state.withLock { $0.held[user] = nil }
        case .ask, .cancel, .enroll, .forgetFingers, .list: queue.post(.notice(notice))
        }
    }

    private func completeGreeting(with key: KeptSecret?) {
        state.withLock { state in
            if let key { state.key = key }
            state.isGreeted = true
            Self.send(.sensor(isPresent: state.hasSensor), over: state.channel)
        }
        log.info("the connection to the enclave is open")
    }

    /// Handles the connection's end. The held secrets are useless from here on. An enclave that ends the connection at the first verdict
    /// does not have the pairing key: this discards the key, and the next greeting requests another.
    private func end() {
        let isUnknown = state.withLock { state in
            state.channel = nil
            state.isGreeted = false
            state.held = [:]
            guard state.isUnproven else { return false }
            state.key = nil
            return true
        }
        if isUnknown { store.forgetKey() }
        queue.post(.connectionLost)
    }
}
