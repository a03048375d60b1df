// Which prompt a touch answers: the one on the screen. Queued prompts do not use the reader, and cannot be answered before they are shown.

import CVaubanLinux
import Crypto
import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

@Suite("Touches and queued prompts")
struct FingerTurnTests {
    @Test("A touch answers the prompt that is shown") func aTouchAnswersTheShownPrompt() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let user = try rooms.user([.silence, .silence, .silence])
        defer { user.leave() }
        let queued = DispatchSemaphore(value: 0)
        let places = Mutex<[String]>([])
        func awaitQueuedCall() -> Bool { queued.wait(timeout: .now() + HangLimit.seconds) == .success }

        let honest = Running { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "on the screen") }
        #expect(user.awaitPrompt() && reader.awaitRequest())
        let other = Running { try rooms.read("s", "p", waiting: { _ in queued.signal() }) }
        #expect(awaitQueuedCall())
        let last = Running {
            try rooms.authentication.evaluate(.biometryOrPasscode, reason: "last") { place in
                places.withLock { $0.append(place) }
                queued.signal()
            }
        }
        #expect(awaitQueuedCall())
        _ = try rooms.authentication.status()
        #expect(reader.asks == 1 && user.requests.count == 1)

        reader.touch()
        try honest.value()
        #expect(user.awaitPrompt() && reader.awaitRequest())
        #expect(reader.asks == 2 && !other.isOver && !last.isOver)
        reader.touch()
        #expect(try other.value() == "guarded")
        #expect(user.awaitPrompt() && reader.awaitRequest())
        #expect(reader.asks == 3 && !last.isOver)
        reader.touch()
        try last.value()
        #expect(user.requests.map(\.operation) == [.evaluatePolicy, .readItem, .evaluatePolicy])
        // Each touch answered the last request; none was made for a queued prompt.
        #expect(reader.reported.filter { $0.outcome == .matched }.map(\.nonce) == reader.askedNonces)
        // The caller was notified of the place when its prompt entered the queue, and not again for the same place.
        #expect(places.withLock { $0 } == ["a test's terminal"])
    }

    /// An authd that reports arbitrary events: the reader is not used for a prompt that was not reported as shown, and a passcode for it is
    /// refused, uncounted, correct or not.
    @Test("Evidence is ignored before the prompt is shown") func evidenceIsIgnoredBeforeThePromptIsShown() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("p", .userPresence)
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        var attemptsLeft: [Int64] = []
        for passcode in [Rooms.passcode, "not this one"] {
            let read = Running { refusal { _ = try rooms.read("s", "p") } }
            let (request, card) = try authd.nextRequest()
            attemptsLeft.append(request.attemptsLeft)
            try authd.report(.waiting(prompt: request.prompt, place: "in line"))
            let sealed = try PlayedAuthd.seal(passcode, to: card, for: request.challenge)
            try authd.report(.answered(prompt: request.prompt, challenge: request.challenge.nonce, sealed))
            #expect(try read.value() == .authenticationFailed)
        }
        let read = Running { try rooms.read("s", "p") }
        let (request, _) = try authd.nextRequest()
        #expect(attemptsLeft.allSatisfy { $0 == request.attemptsLeft })
        reader.expect(.match)
        try authd.report(.waiting(prompt: request.prompt, place: "in line"))
        try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
        #expect(try read.value() == "guarded")
        // The reader receives requests in order: this was the first.
        #expect(reader.asks == 1)
    }
}

extension FingerTurnTests {
    /// An authd that reports without end does not keep a prompt open beyond the user's timeout.
    @Test("Repeated reports do not extend a prompt beyond the user's timeout") func repeatedReportsDoNotExtendAPrompt() throws {
        let rooms = try Rooms(hasClock: true)
        try rooms.setPasscode()
        let clock = try EnclaveClockFile(of: rooms)
        try rooms.addGuarded("p", .userPresence)
        let authd = try PlayedAuthd(rooms)
        defer { authd.resume() }
        let read = Running { refusal { _ = try rooms.read("s", "p") } }
        let (request, _) = try authd.nextRequest()
        try authd.report(.shown(prompt: request.prompt, place: "on the screen"))
        // The machine slept through it: only one of its clocks advanced.
        try clock.machineSleeps(forSeconds: 301)
        try authd.report(.waiting(prompt: request.prompt, place: "still there"))
        #expect(try read.value() == .userTimedOut)
    }

    @Test("A process that has too many prompts waiting gets no more, and is told why") func promptsOfOneProcessAreLimited() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let user = try rooms.user([.silence])
        let queued = Mutex(0)
        let waiting = (0..<32).map { _ in
            Running {
                refusal {
                    try rooms.authentication.evaluate(.biometryOrPasscode, reason: "one of many") { _ in queued.withLock { $0 += 1 } }
                }
            }
        }
        try awaitTrue("all of them waiting") { queued.withLock { $0 } == 32 }
        var surplus: Refusal?
        do { try rooms.authentication.evaluate(.biometryOrPasscode, reason: "one more") } catch { surplus = error }
        #expect(surplus?.reason == .interactionNotAllowed && surplus?.detail?.hasPrefix("Too many prompts of this program wait") == true)
        #expect(user.requests.count == 1 && waiting.allSatisfy { !$0.isOver })
        user.leave()
        for call in waiting { #expect(try call.value() == .noPromptAgent) }
        // Their places are free again.
        let next = try rooms.user([.passcode(Rooms.passcode)])
        defer { next.leave() }
        try rooms.authentication.evaluate(.biometryOrPasscode, reason: "afterwards")
    }
}

/// A call on a separate thread.
final class Running<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread.detachNewThread { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            ended.signal()
        }
    }

    var isOver: Bool { result.withLock { $0 != nil } }

    /// Waits for the end, for longer than the machine's timeout.
    func value() throws -> Value {
        guard ended.wait(timeout: .now() + HangLimit.seconds) == .success, let result = result.withLock({ $0 }) else {
            throw SystemError("see a call end", code: ETIMEDOUT)
        }
        return try result.get()
    }
}

/// authd's standing connection, while its own process is stopped.
final class PlayedAuthd {
    private let line: Channel
    private let process: pid_t
    private let enclaveUID: UInt32

    init(_ rooms: Rooms) throws {
        process = try rooms.process(of: "authd")
        enclaveUID = rooms.service.enclaveUID
        try rooms.stop(process)
        // The enclave closes the connection that another one replaced, which shows that it has accepted the other.
        let address = ServerAddress(folder: rooms.service.sockets, socket: "enclave", serverUID: enclaveUID)
        let lines = try (0..<2).map { _ in try address.connect(role: EnclaveRole.prompts.rawValue, within: HangLimit.nanoseconds) }
        var pollers = lines.map { pollfd(fd: $0.socket.number, events: Int16(VAUBAN_POLLRDHUP), revents: 0) }
        let ended = poll(&pollers, 2, HangLimit.milliseconds) == 1 ? pollers.firstIndex { $0.revents != 0 } : nil
        guard let ended else {
            kill(process, SIGCONT)
            throw SystemError("be the enclave's prompt service", code: ETIMEDOUT)
        }
        line = lines[1 - ended]
    }

    func resume() { kill(process, SIGCONT) }

    func nextRequest() throws -> (PromptRequest, EnclaveKeyCard) {
        while true {
            let message = try line.receive(.after(HangLimit.nanoseconds))
            guard case .ask(let request) = try PromptNotice(derBytes: message.header) else { continue }
            let card = SealedMemory.bytes(of: message.descriptors[0], madeBy: enclaveUID, max: EnclaveKeyCard.bytesMax)
            return (request, try EnclaveKeyCard(derBytes: card ?? []))
        }
    }

    func report(_ report: PromptReport) throws { try line.send(header: try report.encoded()) }

    /// Seals what the user types, as an honest agent does.
    static func seal(
        _ passcode: String, to card: EnclaveKeyCard, for challenge: PasscodeChallenge, authorizing binding: SealBinding? = nil
    ) throws -> PromptAnswer {
        let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
        var sender = try HPKE.Sender(
            recipientKey: try Curve25519.KeyAgreement.PublicKey(rawRepresentation: card.publicKey), ciphersuite: suite,
            info: Data(challenge.sealInfo(user: geteuid())))
        let bound = Data(try binding?.encoded() ?? [])
        let ciphertext = Array(try sender.seal(Data(passcode.utf8), authenticating: bound))
        return .passcode(SealedPasscode(encapsulated: Array(sender.encapsulatedKey), ciphertext: ciphertext))
    }
}
