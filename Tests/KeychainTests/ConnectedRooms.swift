// keychaind behind its real socket, and a fake enclave behind another, in the process of the test.

import EnclaveWire
import Foundation
import Glibc
import Keychain
import Logging
import Synchronization
import TestSupport
import VaubanAccessPolicy
import VaubanDER
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The servers of keychaind and of an enclave, in this process.
final class Rooms {
    let folder: String
    let leasedKeys: LeasedKeyStore
    let enclave: EnclaveServer
    private let address: ServerAddress

    /// - Parameters:
    ///   - identifies: Whether callers are identified, as in system mode.
    ///   - clock: The monotonic clock by which connections are served.
    ///   - updatesClock: The one by which large updates wait for their turns.
    init(
        identifies: Bool = false, clock: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic },
        updatesClock: LargeUpdates.Clock = .ofThisMachine
    ) throws {
        folder = NSTemporaryDirectory() + "rooms-" + UUID().uuidString
        let sockets = try PrivateFolder(path: folder, creating: true)
        let leasedKeys = LeasedKeyStore()
        self.leasedKeys = leasedKeys
        enclave = try EnclaveServer(sockets)
        address = ServerAddress(folder: folder, socket: "keychain", serverUID: getuid())
        let enclaveAddress = ServerAddress(folder: folder, socket: KeychainRoom.enclaveSocketName, serverUID: getuid())
        let room = KeychainRoom.open(
            state: try sockets.subfolder("state", creating: true), enclave: enclaveAddress, leasedKeys: leasedKeys,
            entitlements: identifies ? EntitlementTable.none : nil, clock: clock, updatesClock: updatesClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let listener = try sockets.bindSocket("keychain", mode: 0o600)
        Thread { _ = try? room.run(ConnectionServer(listener: listener, admits: { _ in true })) }.start()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func client() throws -> Channel { try address.connect(within: HangLimit.nanoseconds) }
}

/// The fake enclave behind a real socket.
final class EnclaveServer: Sendable {
    let waits = Mutex(false)
    let answer = DispatchSemaphore(value: 0)
    /// The answer for items that need the passcode.
    let passcodeAnswer = DispatchSemaphore(value: 0)
    let promptEnded = DispatchSemaphore(value: 0)
    /// How many requests for keys of new values are answered until one waits for `sealing`; nil if none waits.
    let sealsUntilStop = Mutex<Int?>(nil)
    let sealStopped = DispatchSemaphore(value: 0)
    let sealing = DispatchSemaphore(value: 0)
    let identification = Mutex(Identification.silence)

    /// What follows the question who a caller is.
    enum Identification: Sendable {
        case silence
        case end
        case answer(EnclaveReply)
    }

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
        return try KeyUsesNoted(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header)
    }

    func lock() throws -> LeaseErased {
        fake.set {
            $0.lock = .locked; $0.epoch = 2
        }
        guard let channel = connections.withLock({ $0.last { $0.role == .lease }?.channel }) else { throw Refusal(.internalError) }
        try channel.send(header: try LeaseRecall(user: getuid(), epoch: 1, everything: false).encoded())
        return try LeaseErased(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header)
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
        let first = try connection.channel.receive(.after(HangLimit.nanoseconds))
        guard case .registerCaller = try EnclaveRequest(derBytes: first.header), first.descriptors.count == 2 else { return }
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
        case .identify:
            switch identification.withLock({ $0 }) {
            case .silence: break
            case .end: channel.shutDown()
            case .answer(let reply): try channel.send(header: try reply.encoded())
            }
        case .seal(let row):
            stopIfDue()
            let sealed = try fake.seal(row, password: password)
            try channel.send(header: try EnclaveReply.sealed(wrapped: sealed.wrapped).encoded(), secret: sealed.key)
        case .open(let row, let wrapped, let reason, let mayPrompt, _):
            if let control = row.accessControl, waits.withLock({ $0 }) {
                try waitForUser(channel, control.flags.contains(.devicePasscode) ? passcodeAnswer : answer)
            }
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
        case .keyStatus(let key): try channel.send(header: try EnclaveReply.keyStatus(try fake.keyStatus(of: key)).encoded())
        default: throw Refusal(.unknownRequest)
        }
    }

    private func stopIfDue() {
        let stops = sealsUntilStop.withLock { left in
            guard let count = left else { return false }
            left = count > 0 ? count - 1 : nil
            return count == 0
        }
        guard stops else { return }
        sealStopped.signal()
        sealing.wait()
    }

    private func waitForUser(_ channel: Channel, _ answer: DispatchSemaphore) throws {
        try channel.send(header: try EnclaveReply.waitingForUser(place: "vauban approve").encoded())
        var end = pollfd(fd: channel.socket.number, events: Int16(0x2000), revents: 0)
        while answer.wait(timeout: .now() + 0.005) == .timedOut {
            if poll(&end, 1, 0) == 1 {
                promptEnded.signal()
                throw ChannelError.closed
            }
        }
    }
}
