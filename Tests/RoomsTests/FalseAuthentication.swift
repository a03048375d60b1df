// A compromised authd: it is between the shipped client library and the real enclave, passes every challenge and key card on unchanged, and
// alters requests as a test determines.

import Crypto
import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import VaubanAuthenticationClient
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

final class FalseAuthentication: Sendable {
    /// Alters a request; with the card it can seal its own secrets.
    typealias Alteration = @Sendable (UserRequest, EnclaveKeyCard) throws -> UserRequest

    /// A client that takes this for authd.
    let client: AuthenticationClient
    private let home: String
    private let enclave: ServerAddress
    private let state = Mutex<(alteration: Alteration?, alteredRequests: Int)>((nil, 0))

    init(before rooms: Rooms) throws {
        var template = Array("\(NSTemporaryDirectory())/vauban-false-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError("make a temporary folder", code: errno) }
        home = String(cString: made)
        let run = try PrivateFolder(path: home, creating: false).subfolder("run", creating: true)
        enclave = ServerAddress(folder: rooms.service.sockets, socket: "enclave", serverUID: rooms.service.enclaveUID)
        let environment = ServiceEnvironment(namedHome: home, userHome: nil, runtimeFolder: nil)
        client = AuthenticationClient(service: Service.own(.named(home: home), home: home, environment))
        let server = ConnectionServer(listener: try run.bindSocket("authentication", mode: 0o600)) { _ in true }
        Thread.detachNewThread { [weak self] in
            try? server.run(refused: { _, _ in }, serve: { [weak self] connection in try? self?.serve(connection) })
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    /// The number of altered requests.
    var alteredRequests: Int { state.withLock { $0.alteredRequests } }

    /// Alters the requests during the body.
    func altering(_ alteration: @escaping Alteration, _ body: (AuthenticationClient) throws -> Void) rethrows {
        state.withLock { $0.alteration = alteration }
        defer { state.withLock { $0.alteration = nil } }
        try body(client)
    }

    private func serve(_ connection: AcceptedConnection) throws {
        guard let process = connection.peer.process else { return }
        let line = try enclave.connect(role: EnclaveRole.authentication.rawValue, within: HangLimit.nanoseconds)
        defer { line.shutDown() }
        try line.send(header: EnclaveRequest.registerCaller(name: nil).encoded(), descriptors: [connection.channel.socket, process])
        guard case .caller = try EnclaveReply(derBytes: line.receive(.after(HangLimit.nanoseconds)).header) else { return }
        var card: EnclaveKeyCard?
        while true {
            var request = try UserRequest(derBytes: connection.channel.receive(.idle).header)
            if let card, let alteration = state.withLock({ $0.alteration }) {
                let altered = try alteration(request, card)
                if altered != request { state.withLock { $0.alteredRequests += 1 } }
                request = altered
            }
            try line.send(header: EnclaveRequest.user(request).encoded())
            var isOver = false
            while !isOver {
                let answer = try line.receive(.after(HangLimit.nanoseconds))
                let reply: AuthenticationReply
                switch try EnclaveReply(derBytes: answer.header) {
                case .user(let answered):
                    if case .challenge = answered {
                        card = try answer.descriptors.first
                            .flatMap { SealedMemory.bytes(of: $0, madeBy: geteuid(), max: EnclaveKeyCard.bytesMax) }
                            .map { try EnclaveKeyCard(derBytes: $0) }
                    }
                    reply = .answered(answered, promptPlaces: [])
                case .refused(let refusal): reply = .refused(refusal)
                case .waitingForUser(let place): reply = .waitingForUser(place)
                case .queued: reply = .queued
                default: return
                }
                switch reply {
                case .waitingForUser, .queued: break
                default: isOver = true
                }
                try connection.channel.send(header: reply.encoded(), descriptors: answer.descriptors)
            }
        }
    }

    /// Returns a secret of this authd, sealed as any client could.
    static func own(_ text: String, for challenge: PasscodeChallenge, sealedTo card: EnclaveKeyCard) throws -> SealedPasscode {
        let key = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: card.publicKey)
        let suite = HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
        var sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: Data(challenge.sealInfo(user: geteuid())))
        let ciphertext = try sender.seal(Data(text.utf8))
        return SealedPasscode(encapsulated: Array(sender.encapsulatedKey), ciphertext: Array(ciphertext))
    }
}
