import Authentication
import EnclaveWire
import Foundation
import Glibc
import Logging
import TestSupport
import Testing
import VaubanAuthenticationWire
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel
import VaubanUserWire

/// The real room over a real socket, with a fake enclave behind it.
struct RoomFixture {
    let enclave: FakeEnclave
    private let folder: TestFolder
    let address: ServerAddress

    /// `identifies` as in system mode, where the room identifies each caller before it sends anything.
    init(
        identifies: Bool = false,
        _ handler: @escaping FakeEnclave.Handler = { _, channel, _ in try channel.send(header: EnclaveReply.user(.done).encoded()) }
    ) throws {
        enclave = try FakeEnclave(handler)
        folder = try TestFolder()
        address = ServerAddress(folder: folder.path, socket: "authentication", serverUID: geteuid())
        let room = AuthenticationRoom(
            listener: try folder.folder.bindSocket("authentication", mode: 0o600), enclave: enclave.address, identifiesCallers: identifies,
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        Thread.detachNewThread { try? room.run() }
    }

    func connect(_ role: AuthenticationRole) throws -> Channel { try address.connect(role: role.rawValue, within: HangLimit.nanoseconds) }

    /// Returns the enclave's standing connection after all effects of its arrival have happened; the caller must retain the agent.
    func standingConnection() throws -> (connection: Channel, agent: TestAgent) {
        let channel = try enclave.promptConnections.take()
        let agent = try agent()
        let request = Sample.request(200, of: geteuid(), caller: Int64(getpid()))
        try enclave.ask(request, over: channel)
        #expect(try agent.nextRequest() == request)
        return (channel, agent)
    }

    func caller() throws -> Caller { Caller(channel: try connect(.caller)) }

    /// Registers an agent, so that later prompts appear there.
    func agent(_ scope: AgentScope = .everyCaller, at place: String = "a test") throws -> TestAgent {
        let agent = TestAgent(channel: try connect(.agent))
        try agent.send(.register(scope, place: place))
        #expect(try agent.next().notice == .registered)
        // The reply to an unknown message comes after the room has notified the watchers of the agent.
        try agent.channel.send(header: [0x30, 0x06, 0x02, 0x01, 0x01, 0xBF, 0x63, 0x00])
        guard case .refused(let refusal) = try agent.next().notice else { throw Unexpected(what: "no refusal") }
        #expect(refusal.reason == .unknownRequest)
        return agent
    }
}

/// A client of authd that sees every message.
struct Caller {
    let channel: Channel

    func ask(_ request: UserRequest) throws -> AuthenticationReply {
        try channel.send(header: request.encoded())
        return try reply()
    }

    func reply() throws -> AuthenticationReply { try AuthenticationReply(derBytes: channel.receive(.after(HangLimit.nanoseconds)).header) }
}

struct TestAgent {
    let channel: Channel

    func send(_ message: AgentMessage) throws { try channel.send(header: message.encoded()) }

    func answer(_ request: PromptRequest, _ answer: PromptAnswer) throws {
        try send(.answer(prompt: request.prompt, challenge: request.challenge.nonce, answer))
    }

    func next() throws -> (notice: AgentNotice, descriptors: [Descriptor]) {
        let message = try channel.receive(.after(HangLimit.nanoseconds))
        return (try AgentNotice(derBytes: message.header), message.descriptors)
    }

    /// Returns the next notice, which must be a prompt with the enclave's key card.
    func nextRequest() throws -> PromptRequest {
        let (notice, descriptors) = try next()
        guard case .ask(let request) = notice, descriptors.count == 1 else { throw Unexpected(what: "\(notice)") }
        #expect(SealedMemory.bytes(of: descriptors[0], madeBy: geteuid(), max: 64) == FakeEnclave.keyCardBytes)
        return request
    }
}

struct Unexpected: Error { let what: String }

extension FakeEnclave {
    /// Sends a prompt over the standing connection, as the enclave does while an evaluation waits.
    func ask(_ request: PromptRequest, over channel: Channel) throws {
        try channel.send(header: PromptNotice.ask(request).encoded(), descriptors: [keyCard])
    }
}
