import CVaubanLinux
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost
import VaubanSecretBytes

/// The first messages: the peer's identity is read before anything is sent, and a client proves that it writes deliberately.
@Suite struct HandshakeTests {
    private let socket: Descriptor
    private let raw: RawPeer
    private static let helloCount = 31

    init() throws {
        let pair = try SocketPair()
        socket = pair.first
        raw = RawPeer(socket: pair.second)
    }

    private struct Accepted: Sendable {
        let channel: Channel
        let peer: Peer
        let role: Int64
    }

    private func accepting(usesPeerDescriptor: Bool = true) -> Background<Accepted> {
        let socket = socket
        return Background {
            let (channel, peer, role) = try Handshake.accept(socket, usesPeerDescriptor: usesPeerDescriptor)
            return Accepted(channel: channel, peer: peer, role: role)
        }
    }

    private func greeting(_ nonce: [UInt8], version: UInt8 = 1, role: [UInt8] = [2, 1, 7]) -> [UInt8] {
        let fields = [2, 1, version, 4, UInt8(nonce.count)] + nonce + role
        return [0x30, UInt8(fields.count)] + fields
    }

    /// Answers a hello and returns the outcome: nil, or why the server ended the connection.
    private func outcome(
        usesPeerDescriptor: Bool = true, _ answer: (_ nonce: [UInt8]) throws -> (message: [UInt8], descriptors: [Descriptor])
    ) throws -> String? {
        let server = accepting(usesPeerDescriptor: usesPeerDescriptor)
        let hello = raw.receive(Self.helloCount)
        let (message, descriptors) = try answer(Array(hello.suffix(16)))
        if message.isEmpty { raw.finish() } else { try raw.send(message, descriptors: descriptors) }
        do {
            _ = try server.value()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The time limit of the socket's receives, in nanoseconds.
    private func receiveTime(_ channel: Channel) throws -> UInt64 {
        var time = timeval()
        var size = socklen_t(MemoryLayout<timeval>.size)
        try SystemError.check(getsockopt(channel.socket.number, SOL_SOCKET, SO_RCVTIMEO, &time, &size), "read a time limit")
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
    }

    @Test("A client's receives last as long as its wait for the first message, a server's as long as a machine may take")
    func receivesLastAsLongAsReplies() throws {
        let server = accepting()
        let client = try Handshake.connect(raw.socket, serverUID: geteuid(), role: 3, within: ConnectionLimits.replyTime)
        #expect(try receiveTime(client) == ConnectionLimits.replyTime)
        #expect(try receiveTime(server.value().channel) == ConnectionLimits.machineTime)
    }

    @Test("A handshake identifies the process", arguments: [true, false])
    func handshakeIdentifiesTheProcess(_ usesPeerDescriptor: Bool) throws {
        let server = accepting(usesPeerDescriptor: usesPeerDescriptor)
        let client = try Handshake.connect(raw.socket, serverUID: geteuid(), role: 3, within: HangLimit.nanoseconds)
        let accepted = try server.value()
        #expect(accepted.role == 3 && accepted.peer.pid == getpid() && accepted.peer.uid == geteuid())
        // If the kernel has no SO_PEERPIDFD, the client's own descriptor is the handle.
        let process = try #require(accepted.peer.process)
        #expect(ProcessDescriptor.pid(of: process) == getpid() && accepted.peer.isAlive)
        try client.send(header: [1])
        let request = try accepted.channel.receive(.hanging)
        #expect(request.header == [1])
        try accepted.channel.send(header: [2])
        let reply = try client.receive(.hanging)
        #expect(reply.header == [2])
    }

    @Test("The handshake in Specs/connections.md matches the code") func specificationsExampleMatchesTheCode() throws {
        let document = try SpecDocument("connections")
        let hello = try document.example("hello"), greeting = try document.example("greeting")
        let server = accepting()
        let received = raw.receive(Self.helloCount)
        let nonce = Array(received.suffix(16))
        #expect(received == hello.dropLast(16) + nonce)
        let place = try #require(greeting.indices.first { greeting[$0...].starts(with: hello.suffix(16)) })
        try raw.send(Array(greeting[..<place]) + nonce + Array(greeting[(place + 16)...]), descriptors: [ProcessDescriptor.ofSelf()])
        let accepted = try server.value()
        #expect(accepted.role == 1)
        try accepted.channel.send(header: [0x30, 5, 2, 1, 2, 0xA4, 0], secret: SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEF]))
        let expected = try document.example("secret section")
        #expect(raw.receive(expected.count) == expected)
    }

    @Test("A client sends the greeting of Specs/connections.md") func clientSendsTheSpecificationsExample() throws {
        let socket = socket, document = try SpecDocument("connections")
        let client = Background { try Handshake.connect(socket, serverUID: geteuid(), role: 1, within: HangLimit.nanoseconds) }
        try raw.send(document.example("hello"))
        let expected = try document.example("greeting")
        #expect(raw.receive(expected.count) == expected)
        _ = try client.value()
    }

    @Test("Every connection has a fresh nonce") func everyConnectionHasAFreshNonce() throws {
        var nonces: Set<[UInt8]> = []
        for _ in 1...8 {
            let pair = try SocketPair()
            let socket = pair.first
            let server = Background { _ = try Handshake.accept(socket) }
            nonces.insert(Array(RawPeer(socket: pair.second).receive(Self.helloCount).suffix(16)))
            shutdown(pair.second.number, Int32(SHUT_RDWR))
            _ = try? server.value()
        }
        #expect(nonces.count == 8)
    }

    // MARK: Claims that are refused

    @Test("A wrong nonce is refused") func wrongNonceIsRefused() throws {
        let outcome = try outcome { nonce in
            var wrong = nonce
            wrong[15] ^= 1
            return (Frame.message(greeting(wrong)), [try ProcessDescriptor.ofSelf()])
        }
        #expect(outcome?.contains("nonce") == true)
    }

    @Test("A greeting without a process descriptor is refused", arguments: [true, false])
    func missingProcessDescriptorIsRefused(_ usesPeerDescriptor: Bool) throws {
        let outcome = try outcome(usesPeerDescriptor: usesPeerDescriptor) { (Frame.message(greeting($0)), []) }
        #expect(outcome?.contains("descriptor is missing") == true)
    }

    @Test("A greeting with two process descriptors is refused") func twoProcessDescriptorsAreRefused() throws {
        let outcome = try outcome { (Frame.message(greeting($0)), [try ProcessDescriptor.ofSelf(), try ProcessDescriptor.ofSelf()]) }
        #expect(outcome?.contains("descriptor is missing") == true)
    }

    @Test("A descriptor of another process is refused", arguments: [true, false])
    func descriptorOfAnotherProcessIsRefused(_ usesPeerDescriptor: Bool) throws {
        let other = try Child("exit 0")
        let outcome = try outcome(usesPeerDescriptor: usesPeerDescriptor) {
            (Frame.message(greeting($0)), [try ProcessDescriptor.of(other.pid)])
        }
        other.wait()
        #expect(outcome?.contains("another process") == true)
    }

    @Test("A descriptor of no process is refused") func descriptorOfNoProcessIsRefused() throws {
        let outcome = try outcome { (Frame.message(greeting($0)), [Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC))]) }
        #expect(outcome?.contains("another process") == true)
    }

    @Test("A greeting with a secret is refused") func greetingWithASecretIsRefused() throws {
        let outcome = try outcome { (Frame.message(greeting($0), secret: [1]), [try ProcessDescriptor.ofSelf()]) }
        #expect(outcome?.contains("unproven") == true)
    }

    @Test("Any other message than a greeting is refused") func otherMessageThanAGreetingIsRefused() throws {
        let cases: [([UInt8]) -> [UInt8]] = [
            { Frame.message(self.greeting($0, version: 2)) }, { Frame.message(self.greeting($0, role: [2, 2, 1, 0])) },
            { Frame.message(self.greeting($0, role: [])) }, { Frame.message(self.greeting(Array($0.dropLast()))) },
            { Frame.message(self.greeting($0) + [0]) }, { Frame.message(Array("GET / HTTP/1.1".utf8) + $0) },
            { _ in Frame.lengths(60_001, 0) },
            { _ in Array("GET / HTTP/1.1\r\n\r\n".utf8) }, { _ in [] },
        ]
        for message in cases {
            let fresh = try HandshakeTests()
            let outcome = try fresh.outcome { (message($0), message($0).isEmpty ? [] : [try ProcessDescriptor.ofSelf()]) }
            #expect(outcome != nil)
        }
    }

    /// A child that received the connection has all information of its parent, and still is another process.
    @Test("A child that greets on its parent's connection is refused") func childOnItsParentsConnectionIsRefused() throws {
        let server = accepting()
        let hello = raw.receive(Self.helloCount)
        #expect(try Child.writing(Frame.message(greeting(Array(hello.suffix(16)))), to: raw.socket).wait() == 0)
        let fault = #expect(throws: HandshakeError.self) { _ = try server.value() }
        guard case .channel(.foreignSender)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test("A child that uses its parent's connection is refused after the handshake too") func childIsRefusedAfterTheHandshake() throws {
        let server = accepting()
        let client = try Handshake.connect(raw.socket, serverUID: geteuid(), role: 0, within: HangLimit.nanoseconds)
        let accepted = try server.value()
        #expect(try Child.writing(Frame.message([1]), to: client.socket).wait() == 0)
        #expect(throws: ChannelError.self) { _ = try accepted.channel.receive(.hanging) }
    }

    @Test("A client sends nothing to another user's server") func clientSendsNothingToAnotherUsersServer() throws {
        // Root may listen for a room, so only the first message reveals that it is not the room; others are revealed by listening.
        let server = accepting()
        let fault = #expect(throws: HandshakeError.self) { _ = try Handshake.connect(raw.socket, serverUID: geteuid() &+ 1, role: 0) }
        switch fault {
        case .wrongServer(let uid)?: #expect(uid == geteuid() && uid != 0)
        case .channel(.foreignSender)?: #expect(geteuid() == 0)
        default: Issue.record("\(String(describing: fault))")
        }
        raw.finish()
        let end = #expect(throws: HandshakeError.self) { _ = try server.value() }
        guard case .channel(.closed)? = end else {
            Issue.record("the client said something: \(String(describing: end))")
            return
        }
    }
}

extension ProcessDescriptor {
    /// Opens a descriptor of any process, as every program can that has its number.
    static func of(_ pid: pid_t) throws -> Descriptor {
        Descriptor(try SystemError.checkNegated(vauban_pidfd_open(pid), "open a process"))
    }
}
