import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserWire

/// A queue between threads. Taking an element waits, but only for a limited time, after which the test fails.
final class Mailbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        count.signal()
    }

    struct NothingCame: Error {}

    func take() throws -> Value {
        guard count.wait(timeout: .now() + HangLimit.seconds) == .success else { throw NothingCame() }
        return values.withLock { $0.removeFirst() }
    }
}

/// A server with the enclave's wire that sends the replies of the test.
final class FakeEnclave: Sendable {
    typealias Handler = @Sendable (EnclaveRequest, Channel, FakeEnclave) throws -> Void

    let folder: TestFolder
    let address: ServerAddress
    /// The standing connections, in the order in which they are opened.
    let promptConnections = Mailbox<Channel>()
    let reports = Mailbox<PromptReport>()
    let requests = Mailbox<EnclaveRequest>()
    /// Receives one element for each caller connection that has ended.
    let ended = Mailbox<Void>()
    let keyCard: Descriptor
    private let handler: Handler

    /// The bytes of the key card that it sends.
    static let keyCardBytes: [UInt8] = Array("a key card".utf8)

    init(_ handler: @escaping Handler = { _, channel, _ in try channel.send(header: EnclaveReply.user(.done).encoded()) }) throws {
        folder = try TestFolder()
        address = ServerAddress(folder: folder.path, socket: "enclave", serverUID: geteuid())
        keyCard = try SealedMemory.make(Self.keyCardBytes)
        self.handler = handler
        let server = ConnectionServer(listener: try folder.folder.bindSocket("enclave", mode: 0o600)) { _ in true }
        Thread.detachNewThread { [self] in
            try? server.run(refused: { _, _ in }, serve: { [self] connection in serve(connection) })
        }
    }

    private func serve(_ connection: AcceptedConnection) {
        let channel = connection.channel
        do {
            switch EnclaveRole(rawValue: connection.role) {
            case .prompts:
                promptConnections.put(channel)
                while true { reports.put(try PromptReport(derBytes: channel.receive(.idle).header)) }
            case .authentication:
                while true { try answer(channel.receive(.idle), channel) }
            default: break
            }
        } catch {
            if connection.role == EnclaveRole.authentication.rawValue { ended.put(()) }
            channel.shutDown()
        }
    }

    private func answer(_ message: borrowing Message, _ channel: Channel) throws {
        let request = try EnclaveRequest(derBytes: message.header)
        guard case .registerCaller = request else {
            requests.put(request)
            return try handler(request, channel, self)
        }
        guard message.descriptors.count == 2, let pid = ProcessDescriptor.pid(of: message.descriptors[1]) else {
            return try channel.send(header: EnclaveReply.refused(Refusal(.malformed)).encoded())
        }
        let caller = try Peer(ofConnection: message.descriptors[0])
        guard caller.pid == pid else { return try channel.send(header: EnclaveReply.refused(Refusal(.badParameter)).encoded()) }
        try channel.send(header: EnclaveReply.caller(user: caller.uid, pid: Int64(pid)).encoded())
    }
}

/// A private folder that is removed with its owner.
final class TestFolder: Sendable {
    let path: String
    let folder: PrivateFolder

    init() throws {
        var template = Array("/tmp/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        folder = try PrivateFolder(path: path, creating: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A condition that is true a given number of times.
final class Countdown: Sendable {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }

    func next() -> Bool {
        left.withLock { left in
            defer { left -= 1 }
            return left > 0
        }
    }
}
