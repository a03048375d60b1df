// The line to the enclave (Specs/reader.md), opened again whenever it is lost.

internal import Crypto
internal import EnclaveWire
internal import Logging
internal import Synchronization
internal import VaubanDER
internal import VaubanLinuxHost
internal import VaubanRoomHardening
internal import VaubanSecretBytes
internal import VaubanUserModel

/// Spoken on by the sensor's thread, heard by its own.
final class EnclaveConnectionThread: Sendable {
    private struct State {
        var channel: Channel?
        var key: KeptSecret?
        var isGreeted = false
        var hasSensor = false
        /// What is held for each user, until a finger of theirs matches.
        var held: [UInt32: KeptSecret] = [:]
        /// Whether a word was said under the key on this line, and the enclave has said nothing since.
        var isUnproven = false
    }

    private let enclave: ServerAddress
    private let kept: ReaderState
    private let desk: QuestionQueue
    private let log: Logger
    private let state: Mutex<State>

    init(enclave: ServerAddress, kept: ReaderState, desk: QuestionQueue, log: Logger) throws(SystemError) {
        self.enclave = enclave
        self.kept = kept
        self.desk = desk
        self.log = log
        let key = try kept.key()
        state = Mutex(State(key: key))
    }

    // MARK: Speaking

    /// Told at each change, and first on every line.
    func tellSensor(isThere: Bool) {
        state.withLock { state in
            guard state.hasSensor != isThere else { return }
            state.hasSensor = isThere
            if state.isGreeted { Self.send(.sensor(isPresent: isThere), nil, state.channel) }
        }
    }

    /// A word under the key; a match gives back what is held for the user.
    func say(_ outcome: ReaderVerdict.Outcome, _ user: UInt32, nonce: [UInt8], fingers: [UInt8]) {
        state.withLock { state in
            guard state.isGreeted, let key = state.key else { return }
            let bare = ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: fingers)
            let code = key.bytes.withUnsafeBytes {
                Array(HMAC<SHA256>.authenticationCode(for: bare.covered, using: SymmetricKey(data: $0)))
            }
            let verdict = ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: fingers, code: code)
            state.isUnproven = true
            Self.send(.verdict(verdict), outcome == .matched ? state.held.removeValue(forKey: user) : nil, state.channel)
        }
        ScratchMemory.scrubStack()
    }

    func hint(_ hint: FingerHint, nonce: [UInt8], done: Int64 = 0, total: Int64 = 0) {
        state.withLock { Self.send(.hint(nonce: nonce, hint, done: done, total: total), nil, $0.isGreeted ? $0.channel : nil) }
    }

    func name(_ fingers: [String], nonce: [UInt8]) {
        state.withLock { Self.send(.fingers(nonce: nonce, fingers), nil, $0.isGreeted ? $0.channel : nil) }
    }

    /// A line that does not carry a message has been shut down by the attempt; its receiver notices and opens the next.
    private static func send(_ report: ReaderReport, _ held: KeptSecret?, _ channel: Channel?) {
        guard let channel, let header = try? report.encoded() else { return }
        if let held { _ = try? channel.send(header: header, secret: held.bytes) } else { _ = try? channel.send(header: header) }
    }

    // MARK: Hearing

    func run() -> Never {
        StandingConnection(enclave, role: EnclaveRole.reader.rawValue).keep(
            serve: { try serve($0) }, lost: { log.notice("the line to the enclave is lost", metadata: ["why": "\($0)"]) })
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
            try take(notice, message.takeSecret())
            ScratchMemory.scrubStack()
        }
    }

    private func take(_ notice: ReaderNotice, _ secret: consuming SecretBytes?) throws {
        let brought = KeptSecret.ofOptional(secret)
        switch notice {
        case .pair:
            guard let brought else { throw ChannelError.malformed("a pairing without a key") }
            // On the disk first: what is said under it must not be the word of nobody after a restart.
            try kept.keep(brought)
            greeted(with: brought)
        case .ready: greeted(with: nil)
        case .hold(let user):
            guard let brought else { throw ChannelError.malformed("there is nothing to hold") }
            state.withLock { $0.held[user] = brought }
        case .drop(let user): state.withLock { $0.held[user] = nil }
        case .ask, .cancel, .enroll, .forgetFingers, .list: desk.post(.notice(notice))
        }
    }

    private func greeted(with key: KeptSecret?) {
        state.withLock { state in
            if let key { state.key = key }
            state.isGreeted = true
            Self.send(.sensor(isPresent: state.hasSensor), nil, state.channel)
        }
        log.info("the line to the enclave is open")
    }

    /// What was held is worth nothing from here on. An enclave that ended the line at our first word does not know our key:
    /// it is forgotten, and the next greeting asks for another.
    private func end() {
        let isUnknown = state.withLock { state in
            state.channel = nil
            state.isGreeted = false
            state.held = [:]
            guard state.isUnproven else { return false }
            state.key = nil
            return true
        }
        if isUnknown { kept.forgetKey() }
        desk.post(.lineLost)
    }
}
