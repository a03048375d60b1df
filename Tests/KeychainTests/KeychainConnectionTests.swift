// keychaind's socket, its connections to the enclave, and their failures, over real sockets.

import EnclaveWire
import Foundation
import Glibc
import Keychain
import KeychainStore
import Logging
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

@Suite struct KeychainConnectionTests {
    private let item = ItemAttributes([.account: .text("a"), .service: .text("s")])

    private var get: [UInt8] {
        get throws {
            var query = ItemQuery(kind: .genericPassword, attributes: item)
            query.returns.insert(.data)
            return try KeychainRequest.copyMatching(query).encoded()
        }
    }

    private func reply(_ channel: Channel) throws -> KeychainReply { try KeychainReply(derBytes: try channel.receive(.machine).header) }

    private func store(_ value: String, over channel: Channel, control: AccessControl? = nil) throws {
        let record = ItemRecord(kind: .genericPassword, attributes: item, accessControl: control)
        try channel.send(
            header: try KeychainRequest.add(record, returns: [], hasData: true).encoded(), secret: SecretBytes(Array(value.utf8)))
        #expect(try reply(channel) == .done)
    }

    private func read(over channel: Channel) throws -> String? {
        try channel.send(header: try get)
        while true {
            let message = try channel.receive(.machine)
            switch try KeychainReply(derBytes: message.header) {
            case .waitingForUser, .queued, .rewrapped, .permissions, .examined, .restorable, .handedOver, .versions, .deleted,
                .keepsHistory,
                .cleared, .ownRights, .backup, .sync, .accessLog, .lastUses, .logHead, .canaryAlerts:
                continue
            case .items:
                let value = message.secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                guard try reply(channel) == .done else { return nil }
                return value
            case .refused(let refusal): throw refusal
            case .done: return nil
            }
        }
    }

    @Test("A value is stored and returned") func valueIsStoredAndReturned() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("s3cret", over: channel)
        #expect(try read(over: channel) == "s3cret")
        #expect(try read(over: rooms.client()) == "s3cret")
    }

    /// Value and password arrive in one section, and the enclave receives the password alone.
    @Test("A value and a password come in one section, and the enclave gets the password alone") func passwordFollowsTheValue() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        let control = try AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
        let record = ItemRecord(kind: .genericPassword, attributes: item, accessControl: control)
        let add = KeychainRequest.add(record, returns: [], hasData: true, passwordBytes: 4)
        try channel.send(header: try add.encoded(), secret: SecretBytes(Array("s3cretpass".utf8)))
        #expect(try reply(channel) == .done)
        #expect(Refusal.Reason.of { _ = try read(over: channel) } == .cancelled)
        var query = ItemQuery(kind: .genericPassword, attributes: item)
        query.returns.insert(.data)
        let request = try KeychainRequest.copyMatching(query, passwordBytes: 4).encoded()
        try channel.send(header: request, secret: SecretBytes(Array("pass".utf8)))
        let found = try channel.receive(.machine)
        #expect(found.secret?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "s3cret")
        #expect(try reply(channel) == .done)
        // A section that is longer than the request announces ends the connection.
        try channel.send(header: request, secret: SecretBytes(Array("password".utf8)))
        guard case .refused(let refusal) = try reply(channel) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .malformed)
        #expect(throws: ChannelError.self) { _ = try channel.receive(.machine) }
    }

    @Test("A malformed message ends only its connection") func malformedMessageEndsOnlyItsConnection() throws {
        let rooms = try Rooms()
        let good = try rooms.client()
        try store("v", over: good)
        let request = try get
        let messages: [[UInt8]] = [[0x30, 0x80], request + [0], Array(request.dropLast()), [0x05, 0x00], [0x30, 0x03, 0x02, 0x01, 0x02]]
        for message in messages {
            let bad = try rooms.client()
            try bad.send(header: message)
            guard case .refused(let refusal) = try reply(bad) else { Issue.record("not refused"); continue }
            #expect(refusal.reason == .malformed)
            #expect(throws: ChannelError.self) { _ = try bad.receive(.machine) }
        }
        let withDescriptor = try rooms.client()
        try withDescriptor.send(header: request, descriptors: [try ProcessDescriptor.ofSelf()])
        guard case .refused(let refusal) = try reply(withDescriptor) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .malformed)
        let withValue = try rooms.client()
        try withValue.send(header: request, secret: SecretBytes([1]))
        guard case .refused(let second) = try reply(withValue) else { Issue.record("not refused"); return }
        #expect(second.reason == .malformed)
        #expect(try read(over: good) == "v")
    }

    @Test("An unknown request is refused, and the connection stays") func unknownRequestIsRefusedAndConnectionStays() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        // version 1, call [30] {}
        try channel.send(header: [0x30, 0x05, 0x02, 0x01, 0x01, 0xBE, 0x00])
        guard case .refused(let refusal) = try reply(channel) else { Issue.record("not refused"); return }
        #expect(refusal.reason == .unknownRequest)
        #expect(refusal.detail?.contains("30") == true)
        #expect(try read(over: channel) == "v")
    }

    @Test("A broken connection to the enclave is established again") func brokenEnclaveConnectionIsReestablished() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        rooms.enclave.cut(.keychain)
        #expect(try read(over: channel) == "v")
        rooms.enclave.cut(.lease)
        #expect(try read(over: channel) == "v")
        rooms.enclave.cut(.keychain)
        rooms.enclave.cut(.lease)
        #expect(try read(over: channel) == "v")
    }

    @Test("A caller is notified that it waits for the user") func callerIsNotifiedThatItWaitsForUser() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel, control: AccessControl(protection: .whenUnlocked, flags: .userPresence))
        rooms.enclave.waits.withLock { $0 = true }
        try channel.send(header: try get)
        #expect(try reply(channel) == .waitingForUser("approver terminal"))
        rooms.enclave.answer.signal()
        guard case .items = try reply(channel) else { Issue.record("no item"); return }
        #expect(try reply(channel) == .done)
    }

    @Test("Hanging up ends the prompt") func hangingUpEndsThePrompt() throws {
        let rooms = try Rooms()
        var channel: Channel? = try rooms.client()
        try store("v", over: try #require(channel), control: AccessControl(protection: .whenUnlocked, flags: .userPresence))
        rooms.enclave.waits.withLock { $0 = true }
        try channel?.send(header: try get)
        _ = try channel?.receive(.machine)
        channel = nil
        // The fake enclave signals when keychaind closes the connection of the prompt.
        #expect(rooms.enclave.promptEnded.wait(timeout: .now() + HangLimit.seconds) == .success)
    }

    @Test("A recall erases keys before its reply") func recallErasesKeysBeforeReply() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        let erased = try rooms.enclave.lock()
        #expect(erased == LeaseErased(user: getuid(), epoch: 1))
        #expect(rooms.leasedKeys.currentGeneration(of: .metadata(.whenUnlocked), user: getuid()) == nil)
        #expect(Refusal.Reason.of { _ = try read(over: channel) } == .locked)
    }

    @Test("keychaind confirms and logs notices of key uses, between recalls")
    func keyUsesAreConfirmed() throws {
        let rooms = try Rooms()
        let channel = try rooms.client()
        try store("v", over: channel)
        let use = CountedKeyUse(
            key: UsedKey(digest: [UInt8](repeating: 1, count: 32), label: [UInt8](repeating: 2, count: 20)), action: .signed,
            outcome: .done, count: 12)
        let notice = KeyUseNotice(user: getuid(), identity: nil, teamIsTrusted: false, uses: [use])
        for _ in 0..<2 { #expect(try rooms.enclave.deliver(notice) == KeyUsesNoted()) }
        try channel.send(header: try KeychainRequest.accessLog(AccessLogQuery()).encoded())
        guard case .accessLog(let page) = try reply(channel) else { throw Refusal(.internalError) }
        let signed = page.records.compactMap(\.record).filter { $0.action == .signed }
        #expect(signed.flatMap(\.items).reduce(0) { $0 + $1.count } == 24)
        #expect(try reply(channel) == .done)
        #expect(try rooms.enclave.lock() == LeaseErased(user: getuid(), epoch: 1))
    }
}

/// The servers of keychaind and of an enclave, in this process.
private final class Rooms {
    let folder: String
    let leasedKeys: LeasedKeyStore
    let enclave: EnclaveServer
    private let address: ServerAddress

    init() throws {
        folder = NSTemporaryDirectory() + "rooms-" + UUID().uuidString
        let sockets = try PrivateFolder(path: folder, creating: true)
        let leasedKeys = LeasedKeyStore()
        self.leasedKeys = leasedKeys
        enclave = try EnclaveServer(sockets)
        address = ServerAddress(folder: folder, socket: "keychain", serverUID: getuid())
        let enclaveAddress = ServerAddress(folder: folder, socket: KeychainRoom.enclaveSocketName, serverUID: getuid())
        let room = KeychainRoom.open(
            state: try sockets.subfolder("state", creating: true), enclave: enclaveAddress, leasedKeys: leasedKeys,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let listener = try sockets.bindSocket("keychain", mode: 0o600)
        Thread { _ = try? room.run(ConnectionServer(listener: listener, admits: { _ in true })) }.start()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func client() throws -> Channel { try address.connect() }
}

/// The fake enclave behind a real socket.
private final class EnclaveServer: Sendable {
    let waits = Mutex(false)
    let answer = DispatchSemaphore(value: 0)
    let promptEnded = DispatchSemaphore(value: 0)
    private let fake: FakeEnclave
    private let connections = Mutex<[(role: EnclaveRole, channel: Channel)]>([])

    init(_ folder: PrivateFolder) throws {
        fake = try FakeEnclave(user: getuid(), leasedKeys: LeasedKeyStore())
        let listener = try folder.bindSocket(KeychainRoom.enclaveSocketName, mode: 0o600)
        Thread { [self] in
            _ = try? ConnectionServer(listener: listener, admits: { _ in true }).run(
                refused: { _, _ in }, serve: { [self] in try? serve($0) })
        }.start()
    }

    func cut(_ role: EnclaveRole) {
        connections.withLock { all in
            for connection in all where connection.role == role { connection.channel.shutDown() }
            all.removeAll { $0.role == role }
        }
    }

    func deliver(_ notice: KeyUseNotice) throws -> KeyUsesNoted {
        guard let channel = connections.withLock({ $0.last { $0.role == .lease }?.channel }) else { throw Refusal(.internalError) }
        try channel.send(header: try notice.encoded())
        return try KeyUsesNoted(derBytes: try channel.receive(.machine).header)
    }

    func lock() throws -> LeaseErased {
        fake.set {
            $0.lock = .locked; $0.epoch = 2
        }
        guard let channel = connections.withLock({ $0.last { $0.role == .lease }?.channel }) else { throw Refusal(.internalError) }
        try channel.send(header: try LeaseRecall(user: getuid(), epoch: 1, everything: false).encoded())
        return try LeaseErased(derBytes: try channel.receive(.machine).header)
    }

    private func serve(_ connection: AcceptedConnection) throws {
        guard let role = EnclaveRole(rawValue: connection.role) else { return }
        connections.withLock { $0.append((role, connection.channel)) }
        guard role == .keychain else {
            try connection.channel.send(header: try LeaseStanding().encoded())
            var end = pollfd(fd: connection.channel.socket.number, events: Int16(0x2000), revents: 0)
            while poll(&end, 1, -1) != 1 {}
            return
        }
        let first = try connection.channel.receive(.machine)
        guard try EnclaveRequest(derBytes: first.header) == .registerCaller, first.descriptors.count == 2 else { return }
        let caller = try Peer(ofConnection: first.descriptors[0])
        try connection.channel.send(header: try EnclaveReply.caller(user: caller.uid, pid: Int64(caller.pid)).encoded())
        while true {
            var message = try connection.channel.receive(.idle)
            let request = try EnclaveRequest(derBytes: message.header)
            do {
                try answer(request, connection, password: message.takeSecret())
            } catch let refusal as Refusal {
                try connection.channel.send(header: try EnclaveReply.refused(refusal).encoded())
            }
        }
    }

    private func answer(_ request: EnclaveRequest, _ connection: AcceptedConnection, password: consuming SecretBytes?) throws {
        let channel = connection.channel
        switch request {
        case .lease:
            let leased = try fake.lease()
            try channel.send(header: try EnclaveReply.leased(leased.lease).encoded(), secret: leased.secrets)
        case .seal(let row):
            let sealed = try fake.seal(row, password: password)
            try channel.send(header: try EnclaveReply.sealed(wrapped: sealed.wrapped).encoded(), secret: sealed.key)
        case .open(let row, let wrapped, let reason, let mayPrompt, _):
            if row.accessControl != nil, waits.withLock({ $0 }) { try waitForUser(channel) }
            let key = try fake.open(row, wrapped: wrapped, reason: reason, mayPrompt: mayPrompt, password: password)
            try channel.send(header: try EnclaveReply.opened.encoded(), secret: key)
        case .rewrap(let row, let wrapped, let generation):
            let wrapped = try fake.rewrap(row, wrapped: wrapped, generation: generation)
            try channel.send(header: try EnclaveReply.sealed(wrapped: wrapped).encoded())
        case .retire(let keys):
            try fake.retire(keys)
            try channel.send(header: try EnclaveReply.done.encoded())
        case .makeSeriesKey:
            let made = try fake.makeSeriesKey()
            try channel.send(header: try EnclaveReply.seriesKey(sealed: made.sealed, made.end).encoded(), secret: made.key)
        case .openSeriesKey(let sealed):
            try channel.send(header: try EnclaveReply.opened.encoded(), secret: try fake.openSeriesKey(sealed))
        case .anchorLog(let links): try channel.send(header: try EnclaveReply.logEnd(try fake.anchorLog(links)).encoded())
        case .fate(let key): try channel.send(header: try EnclaveReply.fate(try fake.fate(key)).encoded())
        default: throw Refusal(.unknownRequest)
        }
    }

    private func waitForUser(_ channel: Channel) throws {
        try channel.send(header: try EnclaveReply.waitingForUser(place: "approver terminal").encoded())
        var end = pollfd(fd: channel.socket.number, events: Int16(0x2000), revents: 0)
        while answer.wait(timeout: .now() + 0.005) == .timedOut {
            if poll(&end, 1, 0) == 1 {
                promptEnded.signal()
                throw ChannelError.closed
            }
        }
    }
}
