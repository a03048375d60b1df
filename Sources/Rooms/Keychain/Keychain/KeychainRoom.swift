// The room as a process: its arguments, its state folder and its socket.

internal import Foundation
internal import Glibc
internal import KeychainStore
package import Logging
package import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRoomHardening

package struct KeychainRoom {
    /// The arguments `--state DIR --enclave-folder DIR --enclave-uid N`, all required, and optionally `--fetcher-uid N`, in any order.
    package struct Arguments: Hashable, Sendable {
        package static let usage = "usage: keychaind --state DIR --enclave-folder DIR --enclave-uid N|roster [--fetcher-uid N|roster]"
        package let state: String
        package let enclaveFolder: String
        package let enclaveUID: UInt32
        /// The fetcher's uid; nil if there is no fetcher.
        package let fetcherUID: UInt32?

        /// Parses the arguments after the program's name; nil if they are not exactly these.
        package init?(_ words: [String]) throws {
            guard words.count == 6 || words.count == 8 else { return nil }
            var values: [String: String] = [:]
            for index in stride(from: 0, to: words.count, by: 2) { values[words[index]] = words[index + 1] }
            guard let state = values["--state"], let folder = values["--enclave-folder"],
                state.hasBytePrefix("/"), folder.hasBytePrefix("/"),
                let uid = try Roster.enclaveUID(values["--enclave-uid"])
            else { return nil }
            self.state = state
            enclaveFolder = folder
            enclaveUID = uid
            let fetcher = values["--fetcher-uid"]
            guard values.count == words.count / 2, (fetcher != nil) == (words.count == 8) else { return nil }
            // The list of rooms of an earlier version contains no fetcher.
            fetcherUID = try fetcher.flatMap { try Roster.uid(ofWord: $0, room: .fetcher) }
            guard fetcher == nil || fetcher == "roster" || fetcherUID != nil else { return nil }
        }
    }

    /// The name under which the socket is passed and found.
    package static let socketName = "keychain"
    package static let enclaveSocketName = "enclave"
    package static let fetcherSocketName = "fetcher"

    /// Runs the room until the process ends, and logs the reason. Hardens the process before it reads the first byte. A test program passes
    /// its own clock, and can omit some protections.
    package static func main(
        _ words: [String], sleepClock: SleepClock = .ofThisMachine,
        logPauseMilliseconds: Int32 = KeychainLimits.logPauseMilliseconds, without: Set<HardeningFeature> = []
    ) -> Never {
        do {
            let hardening = try RoomHardening(.keychaind, without: without)
            guard let arguments = try Arguments(words) else { leave(64, Arguments.usage) }
            try run(arguments, hardening: hardening, sleepClock: sleepClock, logPauseMilliseconds: logPauseMilliseconds)
        } catch let fault as SystemError {
            leave(1, "keychaind: \(fault.description)")
        } catch let fault as PrivateFolder.OpeningError {
            leave(1, "keychaind: \(fault.description)")
        } catch let fault as ServiceError {
            leave(1, "keychaind: \(fault.description)")
        } catch {
            leave(1, "keychaind: cannot start")
        }
    }

    private static func run(
        _ arguments: Arguments, hardening: RoomHardening, sleepClock: SleepClock, logPauseMilliseconds: Int32
    ) throws -> Never {
        var logger = Logger(label: "keychaind") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .info
        let listener = try InheritedSockets().socket(socketName)
        let state = try PrivateFolder(path: arguments.state, creating: true)
        guard let lock = try state.lock("keychaind.lock") else { leave(1, "keychaind: another keychaind uses \(arguments.state)") }
        // Read before hardening, after which files outside the state folder cannot be read.
        let entitlements = try Roster.isOfThisProcess() ? EntitlementTable(logger: logger) : nil
        if entitlements != nil { NameService.load() }
        for sentence in try hardening.confine(state: state) { logger.warning("\(sentence)") }
        let address = ServerAddress(folder: arguments.enclaveFolder, socket: enclaveSocketName, serverUID: arguments.enclaveUID)
        let fetcher = arguments.fetcherUID.map {
            ServerAddress(folder: arguments.enclaveFolder, socket: fetcherSocketName, serverUID: $0)
        }
        let handler = open(
            state: state, enclave: address, leasedKeys: LeasedKeyStore(), entitlements: entitlements, fetcher: fetcher,
            sleepClock: sleepClock, logPauseMilliseconds: logPauseMilliseconds, logger: logger
        )
        defer { withExtendedLifetime(lock) {} }
        let connections = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), sharing: entitlements == nil ? .oneUser : .owners)
        try handler.run(ConnectionServer(listener: listener, connections: connections, admits: { _ in true }))
    }

    /// Opens the room and starts its standing connection.
    package static func open(
        state: PrivateFolder, enclave: ServerAddress, leasedKeys: LeasedKeyStore, entitlements: EntitlementTable? = nil,
        fetcher: ServerAddress? = nil, sleepClock: SleepClock = .ofThisMachine,
        logPauseMilliseconds: Int32 = KeychainLimits.logPauseMilliseconds,
        clock: @escaping @Sendable () -> UInt64 = { MachineClock.monotonic }, updatesClock: LargeUpdates.Clock = .ofThisMachine,
        logger: Logger
    ) -> KeychainConnectionHandler {
        let admission = Admission()
        let accounts = admission.accounts
        let isInstalled = entitlements != nil
        let databases = DatabaseRegistry(
            state: state, owner: { accounts.owner(of: $0) }, holderName: { isInstalled ? accounts.holderName(of: $0) : nil })
        let services = KeychainServices(
            databases: databases, leasedKeys: leasedKeys, now: { MachineClock.referenceMicroseconds }, sleepClock: sleepClock,
            logger: logger, siteLists: fetcher.map { FetchedSiteLists(address: $0) },
            accessLogs: AccessLogs(
                databases: databases, logger: logger, pauseMilliseconds: logPauseMilliseconds, entitlements: entitlements,
                itemNames: ItemNames(leasedKeys: leasedKeys, sleepClock: sleepClock)),
            largeUpdates: LargeUpdates(owner: { accounts.owner(of: $0) }, clock: updatesClock))
        LeaseConnection(address: enclave, leasedKeys: leasedKeys, logger: logger) { [accessLogs = services.accessLogs] notice in
            accessLogs.receive(notice)
        }.start()
        let holders = StateHolders(accounts: admission.accounts) { state }
        return KeychainConnectionHandler(
            services: services, enclave: enclave, entitlements: entitlements, admission: admission, holders: holders, clock: clock)
    }

    private static func leave(_ code: Int32, _ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(code)
    }
}
