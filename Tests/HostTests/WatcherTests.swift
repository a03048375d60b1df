import EnclaveWire
import Foundation
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import Watcher

/// What the watcher reports to the enclave about a simulated machine, and what it waits for.
@Suite struct WatcherTests {
    private static let me = geteuid()

    @Test("A missing bus is reported on every connection") func missingBusIsReportedOnEveryConnection() throws {
        let enclave = try ListeningEnclave(WatcherSettings(bus: "unix:path=/nonexistent/socket", onlyUser: nil))
        let connection = try enclave.connection()
        #expect(try connection.event().kind == .blind)
        connection.channel.shutDown()
        #expect(try enclave.connection().event().kind == .blind)
    }

    @Test("The shipped watcher watches the system bus and trusts root") func shippedProgramWatchesTheSystemBusAndTrustsRoot() {
        let settings = WatcherSettings(onlyUser: nil)
        #expect(settings.bus == "unix:path=/run/dbus/system_bus_socket" && settings.managerUID == 0)
    }

    @Test("Sleep is delayed until the enclave replies") func sleepIsDelayedUntilTheEnclaveReplies() throws {
        let bus = try OwnBus()
        try bus.startLogind(sessionOf: Self.me)
        let enclave = try ListeningEnclave(WatcherSettings(bus: bus.address, managerUID: Self.me, onlyUser: nil))
        let connection = try enclave.connection()
        try connection.awaitEvent(.watching)
        try bus.expect("inhibit sleep Vauban delay")
        try bus.logind("sleep")
        let event = try connection.awaitEvent(.sleeping)
        try bus.logind("held")
        try bus.expect("held 1")
        try connection.answer(event)
        try bus.expect("released")
        try bus.logind("wake")
        try bus.expect("inhibit sleep Vauban delay")
        try connection.awaitEvent(.woke)
    }

    @Test("An unanswered event is sent again on the next connection") func unansweredEventIsSentAgainOnTheNextConnection() throws {
        let bus = try OwnBus()
        try bus.startLogind(sessionOf: Self.me)
        let enclave = try ListeningEnclave(WatcherSettings(bus: bus.address, managerUID: Self.me, onlyUser: nil))
        let connection = try enclave.connection()
        try connection.awaitEvent(.watching)
        try bus.expect("inhibit sleep Vauban delay")
        try bus.logind("sleep")
        let event = try connection.awaitEvent(.sleeping)
        connection.channel.shutDown()
        let next = try enclave.connection()
        #expect(try next.event().kind == .watching)
        #expect(try next.event() == event)
        // A reply to another event does not count.
        try next.answer(DeviceEvent(number: event.number + 100, .sleeping))
        try bus.logind("held")
        try bus.expect("held 1")
        try next.answer(event)
        try bus.expect("released")
    }

    @Test("An event of a screen names its user") func screenEventNamesItsUser() throws {
        let bus = try OwnBus()
        try bus.startLogind(sessionOf: 4711)
        let enclave = try ListeningEnclave(WatcherSettings(bus: bus.address, managerUID: Self.me, onlyUser: nil))
        let connection = try enclave.connection()
        try connection.awaitEvent(.watching)
        for (command, kind) in [
            ("lock", DeviceEvent.Kind.screenLocked(user: 4711)), ("unlock", .screenUnlocked(user: 4711)),
            ("hint 1", .screenLocked(user: 4711)), ("hint 0", .screenUnlocked(user: 4711)),
        ] {
            try bus.logind(command)
            #expect(try connection.event().kind == kind)
        }
    }

    @Test("In user mode other users' screens are ignored") func userModeIgnoresOtherUsersScreens() throws {
        let bus = try OwnBus()
        try bus.startLogind(sessionOf: 4711)
        let enclave = try ListeningEnclave(WatcherSettings(bus: bus.address, managerUID: Self.me, onlyUser: 4712))
        let connection = try enclave.connection()
        try connection.awaitEvent(.watching)
        try bus.logind("lock")
        try bus.expect("asked whose session it is")
        try bus.logind("wake")
        #expect(try connection.event().kind == .woke)
    }

    @Test("A login manager of another user is not trusted") func nameOwnerOfAnotherUserIsNotTrusted() throws {
        let bus = try OwnBus()
        try bus.startLogind(sessionOf: Self.me)
        let enclave = try ListeningEnclave(WatcherSettings(bus: bus.address, managerUID: Self.me + 1, onlyUser: nil))
        let connection = try enclave.connection()
        // The connection and the examination of the bus, in either order.
        var event = try connection.event()
        while event.number < 2 {
            #expect(event.kind == .blind)
            event = try connection.event()
        }
        #expect(event.number == 2 && event.kind == .blind)
        try bus.logind("sleep")
        // Nothing holds it up, since no inhibitor was requested.
        try bus.expect("released")
        bus.stopLogind()
        // The end of the name is received after everything that its owner sent.
        event = try connection.event()
        #expect(event.number == 3 && event.kind == .blind)
    }
}

/// The enclave's socket as far as the watcher uses it, with a watcher that runs in this process.
private final class ListeningEnclave: Sendable {
    struct EventConnection {
        let channel: Channel

        func event() throws -> DeviceEvent { try DeviceEvent(derBytes: channel.receive(.hanging).header) }

        /// Returns the first event of this kind; skips earlier ones, from before the bus was found.
        @discardableResult
        func awaitEvent(_ kind: DeviceEvent.Kind) throws -> DeviceEvent {
            while true {
                let event = try event()
                if event.kind == kind { return event }
            }
        }

        func answer(_ event: DeviceEvent) throws { try channel.send(header: DeviceEventDone(number: event.number).encoded()) }
    }

    private let folder: TestFolder
    private let connections = Mutex<[Channel]>([])
    private let count = DispatchSemaphore(value: 0)

    init(_ settings: WatcherSettings) throws {
        folder = try TestFolder()
        let server = ConnectionServer(listener: try folder.folder.bindSocket("enclave", mode: 0o600)) { _ in true }
        let ends = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            try? server.run(refused: { _, _ in }) { [self] connection in
                guard connection.role == EnclaveRole.watcher.rawValue else { return }
                connections.withLock { $0.append(connection.channel) }
                count.signal()
                // From now on the test uses this connection, for as long as the test program runs.
                ends.wait()
            }
        }
        let watcher = try WatcherRoom(
            enclave: ServerAddress(folder: folder.path, socket: "enclave", serverUID: geteuid()), settings,
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        Thread.detachNewThread { watcher.run() }
    }

    /// Returns the next connection that the watcher opens.
    func connection() throws -> EventConnection {
        guard count.wait(timeout: .now() + HangLimit.seconds) == .success else { throw ChannelError.deadline }
        return EventConnection(channel: connections.withLock { $0.removeFirst() })
    }
}
