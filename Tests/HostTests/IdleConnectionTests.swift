import Foundation
import Glibc
import TestSupport
import Testing
import VaubanLinuxHost

/// Idle connections that are closed on real sockets: nothing that was sent is lost, and a client continues by itself.
@Suite struct IdleConnectionTests {
    /// A socket in this process that answers each message with the same message.
    private final class Echo: Sendable {
        let folder: TestFolder
        let table: ConnectionTable
        private let stays: Bool

        init(max: Int, stays: Bool = false) throws {
            folder = try TestFolder()
            table = ConnectionTable(max: max)
            self.stays = stays
            let server = ConnectionServer(listener: try folder.folder.bindSocket("echo", mode: 0o600), connections: table) { _ in true }
            Thread.detachNewThread { [stays] in
                try? server.run(refused: { _, _ in }) { connection in
                    if stays { connection.keepOpenWhileIdle() }
                    while let message = try? connection.channel.receive(.idle),
                        (try? connection.channel.send(header: message.header)) != nil
                    {}
                }
            }
        }

        var service: Service {
            Service.own(
                .named(home: folder.path), home: folder.path, ServiceEnvironment(namedHome: folder.path, userHome: nil, runtimeFolder: nil))
        }
        var address: ServerAddress { ServerAddress(folder: folder.path, socket: "echo", serverUID: geteuid()) }
        func connect() throws -> Channel { try address.connect(within: HangLimit.nanoseconds) }
    }

    @Test("A client whose pooled connection was closed gets its reply over a new one")
    func reconnects() throws {
        let echo = try Echo(max: 32)
        let client = ServiceConnection(service: echo.service, address: echo.address, startsService: false)
        func ask(_ byte: UInt8) throws {
            let channel = try client.send([byte], nil)
            #expect(try channel.receive(.hanging).header == [byte])
            client.give(back: channel)
        }
        try ask(1)
        // Others of the same owner, each of which was answered and then waits: the client's is the longest idle.
        var others: [Channel] = []
        for byte in 0..<UInt8(40) {
            let other = try echo.connect()
            try other.send(header: [byte])
            #expect(try other.receive(.hanging).header == [byte])
            others.append(other)
        }
        #expect(echo.table.count <= 8)
        for byte in 2..<UInt8(20) { try ask(byte) }
    }

    @Test("Exempt connections stay open, and further ones are refused")
    func stays() throws {
        let echo = try Echo(max: 32, stays: true)
        var kept: [Channel] = []
        while kept.count < 8 {
            let channel = try echo.connect()
            try channel.send(header: [1])
            #expect(try channel.receive(.hanging).header == [1])
            kept.append(channel)
        }
        #expect(throws: HandshakeError.self) { _ = try echo.connect() }
        for channel in kept {
            try channel.send(header: [2])
            #expect(try channel.receive(.hanging).header == [2])
        }
    }

    @Test("Messages sent before an idle connection closes are answered, and later ones fail at once")
    func nothingIsLost() throws {
        let pair = try SocketPair()
        let expected = ExpectedSender.process(pid: getpid(), uid: geteuid())
        let client = try Channel(socket: pair.first, expecting: expected), server = try Channel(socket: pair.second, expecting: expected)
        #expect(server.idleSince == nil)
        try client.send(header: [1])
        server.endWhenIdle()
        // A thread that watches this connection for its caller's hang-up notices nothing.
        let wakeup = try Wakeup()
        #expect(wakeup.wait(until: 0, connection: server.socket) == .deadline)
        #expect(try server.receive(.idle).header == [1])
        try server.send(header: [2])
        #expect(try client.receive(.hanging).header == [2])
        #expect(throws: ChannelError.self) { _ = try server.receive(.idle) }
        do throws(ChannelError) {
            try client.send(header: [3])
            Issue.record("it was sent")
        } catch {
            guard case .closed = error else { Issue.record("\(error)"); return }
        }
        client.shutDown()
        #expect(wakeup.wait(until: .max, connection: server.socket) == .hungUp)
    }
}
