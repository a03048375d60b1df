// A fingerprint reader without a sensor: it uses the enclave's socket as the real one does, and a test determines its touches. It has only
// the information that a real reader has.

import Crypto
import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

final class VirtualReader: Sendable {
    typealias Seal = @Sendable (ReaderVerdict) -> ReaderVerdict

    /// What happens when the enclave requests a fingerprint.
    enum Touch: Sendable {
        case match
        case miss
        /// No touch.
        case nothing
        /// Sends other messages unchanged, made from the honest message of a match and the function that adds the reader's code to a
        /// message.
        case messages(@Sendable (_ honest: ReaderVerdict, _ seal: Seal) -> [ReaderVerdict])
    }

    private struct State {
        var channel: Channel?
        var key: [UInt8]?
        var touches: [Touch] = []
        var fingers = [UInt8](repeating: 0xF1, count: 32)
        /// The results of the next enrollments; an empty list ends without a change.
        var ceremonies: [[UInt8]] = []
        var keepsFingers = false
        var held: [UInt32: [UInt8]] = [:]
        var asked: [(user: UInt32, nonce: [UInt8])] = []
        var cancelled: [[UInt8]] = []
        var reported: [ReaderVerdict] = []
        var endedConnections = 0
    }

    private let address: ServerAddress
    private let state = Mutex(State())
    private let wasAsked = DispatchSemaphore(value: 0)

    init(_ service: Service) throws {
        address = ServerAddress(folder: service.sockets, socket: "enclave", serverUID: service.enclaveUID)
        try connect()
    }

    deinit { state.withLock { $0.channel }?.shutDown() }

    // MARK: The script

    /// Determines what happens at the next requests, in turn; after them there are no touches.
    func expect(_ touches: Touch...) { state.withLock { $0.touches = touches } }
    /// Sets the list of fingers with which the next enrollment ends; nil ends it without a change.
    func enrollNext(_ fingers: UInt8?) { state.withLock { $0.ceremonies.append(fingers.map { [UInt8](repeating: $0, count: 32) } ?? []) } }
    /// From now on it deletes no fingers, as fprintd does not if it fails.
    func keepFingers() { state.withLock { $0.keepsFingers = true } }
    func setFingers(_ fingers: UInt8) { state.withLock { $0.fingers = [UInt8](repeating: fingers, count: 32) } }

    var asks: Int { state.withLock { $0.asked.count } }
    var cancelled: [[UInt8]] { state.withLock { $0.cancelled } }
    var reported: [ReaderVerdict] { state.withLock { $0.reported } }
    var askedNonces: [[UInt8]] { state.withLock { $0.asked.map(\.nonce) } }
    var held: [UInt32: [UInt8]] { state.withLock { $0.held } }
    /// The number of connections that the enclave ended, or that ended with it.
    var endedConnections: Int { state.withLock { $0.endedConnections } }

    /// Waits for a request; returns false if none comes.
    func awaitRequest() -> Bool { wasAsked.wait(timeout: .now() + HangLimit.seconds) == .success }

    /// Touches the sensor for the last request, with a finger that matches or with another one.
    func touch(matching: Bool = true) {
        guard
            let (honest, held) = state.withLock({ state -> (ReaderVerdict, [UInt8]?)? in
                guard let last = state.asked.last else { return nil }
                let outcome: ReaderVerdict.Outcome = matching ? .matched : .missed
                let honest = ReaderVerdict(outcome: outcome, user: last.user, nonce: last.nonce, fingers: state.fingers)
                return (honest, matching ? state.held.removeValue(forKey: last.user) : nil)
            })
        else { return }
        try? send(.verdict(seal(honest)), held)
    }

    /// Replaces the held key with other bytes.
    func forgeHeld(of user: UInt32) { state.withLock { $0.held[user] = [UInt8](repeating: 0x55, count: 32) } }

    // MARK: Unsolicited messages

    func sensor(isPresent: Bool) throws { try send(.sensor(isPresent: isPresent)) }

    /// Reports that the list of fingers has changed without an enrollment by the enclave.
    func reportChange(of user: UInt32, to fingers: UInt8) throws {
        setFingers(fingers)
        try report(
            ReaderVerdict(
                outcome: .changed, user: user, nonce: [UInt8](repeating: 0, count: 32), fingers: state.withLock { $0.fingers }))
    }

    /// Sends a message unchanged, with the correct code or not.
    func report(_ verdict: ReaderVerdict, sealed: Bool = true) throws { try send(.verdict(sealed ? seal(verdict) : verdict)) }

    func seal(_ verdict: ReaderVerdict) -> ReaderVerdict {
        let key = SymmetricKey(data: state.withLock { $0.key ?? [] })
        return ReaderVerdict(
            outcome: verdict.outcome, user: verdict.user, nonce: verdict.nonce, fingers: verdict.fingers,
            code: Array(HMAC<SHA256>.authenticationCode(for: verdict.covered, using: key)))
    }

    // MARK: The connection

    /// Opens a new connection to the enclave, which replaces the previous one; paired with the previous key, if there is one, unless it is
    /// `forgetting`.
    func connect(forgetting: Bool = false) throws {
        let channel = try address.connect(role: EnclaveRole.reader.rawValue, within: HangLimit.nanoseconds)
        let isPaired = state.withLock { state in
            if forgetting { state.key = nil }
            state.channel = channel
            return state.key != nil
        }
        try send(.hello(isPaired: isPaired))
        let greeted = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [weak self] in
            while var message = try? channel.receive(.idle), let reader = self {
                guard let notice = try? ReaderNotice(derBytes: message.header) else { break }
                var secret: [UInt8]?
                if let taken = message.takeSecret() { secret = taken.withUnsafeBytes { Array($0) } }
                reader.take(notice, secret: secret, greeted: greeted)
            }
            self?.state.withLock { $0.endedConnections += 1 }
            greeted.signal()
        }
        guard greeted.wait(timeout: .now() + HangLimit.seconds) == .success else {
            throw SystemError("be greeted by the enclave", code: ETIMEDOUT)
        }
        try sensor(isPresent: true)
    }

    func leave() { state.withLock { $0.channel }?.shutDown() }

    private func take(_ notice: ReaderNotice, secret: [UInt8]?, greeted: DispatchSemaphore) {
        switch notice {
        case .pair:
            state.withLock { $0.key = secret }
            greeted.signal()
        case .ready: greeted.signal()
        case .ask(let user, let nonce): answer(user, nonce)
        case .cancel(let nonce): state.withLock { $0.cancelled.append(nonce) }
        case .enroll(let user, let nonce):
            let (outcome, fingers) = state.withLock { state -> (ReaderVerdict.Outcome, [UInt8]) in
                let enrolled = state.ceremonies.isEmpty ? state.fingers : state.ceremonies.removeFirst()
                guard !enrolled.isEmpty else { return (.notEnrolled, state.fingers) }
                state.fingers = enrolled
                return (.enrolled, enrolled)
            }
            try? report(ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: fingers))
        case .forgetFingers(let user, let nonce):
            let keepsFingers = state.withLock { $0.keepsFingers }
            if !keepsFingers { setFingers(0) }
            let outcome: ReaderVerdict.Outcome = keepsFingers ? .notEnrolled : .enrolled
            try? report(ReaderVerdict(outcome: outcome, user: user, nonce: nonce, fingers: state.withLock { $0.fingers }))
        case .hold(let user): state.withLock { $0.held[user] = secret }
        case .drop(let user): state.withLock { $0.held[user] = nil }
        case .list(_, let nonce): try? send(.fingers(nonce: nonce, ["right-index-finger"]))
        }
    }

    private func answer(_ user: UInt32, _ nonce: [UInt8]) {
        let (touch, fingers) = state.withLock { state -> (Touch, [UInt8]) in
            state.asked.append((user, nonce))
            return (state.touches.isEmpty ? .nothing : state.touches.removeFirst(), state.fingers)
        }
        let honest = ReaderVerdict(outcome: .matched, user: user, nonce: nonce, fingers: fingers)
        switch touch {
        case .match: try? send(.verdict(seal(honest)), state.withLock { $0.held.removeValue(forKey: user) })
        case .miss: try? report(ReaderVerdict(outcome: .missed, user: user, nonce: nonce, fingers: fingers))
        case .nothing: break
        case .messages(let messages): for message in messages(honest, { self.seal($0) }) { try? report(message, sealed: false) }
        }
        wasAsked.signal()
    }

    private func send(_ report: ReaderReport, _ held: [UInt8]? = nil) throws {
        guard let channel = state.withLock({ $0.channel }) else { throw ChannelError.closed }
        if case .verdict(let verdict) = report { state.withLock { $0.reported.append(verdict) } }
        if let held {
            try channel.send(header: try report.encoded(), secret: SecretBytes(copying: held))
        } else {
            try channel.send(header: try report.encoded())
        }
    }
}
