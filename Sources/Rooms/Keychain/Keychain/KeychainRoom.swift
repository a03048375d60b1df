// The room as a process: its arguments, its state folder, its door.

internal import Foundation
internal import Glibc
internal import KeychainStore
package import Logging
package import VaubanLinuxHost
internal import VaubanPlainText
internal import VaubanRoomHardening

package struct KeychainRoom {
    /// `--state DIR --enclave-folder DIR --enclave-uid N`, all of them, in any order.
    package struct Arguments: Hashable, Sendable {
        package static let usage = "usage: keychaind --state DIR --enclave-folder DIR --enclave-uid N|roster"
        package let state: String
        package let enclaveFolder: String
        package let enclaveUID: UInt32

        /// Reads what follows the program's name; nil when it is not exactly this.
        package init?(_ words: [String]) throws {
            guard words.count == 6 else { return nil }
            var values: [String: String] = [:]
            for index in stride(from: 0, to: words.count, by: 2) { values[words[index]] = words[index + 1] }
            guard let state = values["--state"], let folder = values["--enclave-folder"],
                state.hasBytePrefix("/"), folder.hasBytePrefix("/"),
                let uid = try Roster.enclaveUID(values["--enclave-uid"])
            else { return nil }
            self.state = state
            enclaveFolder = folder
            enclaveUID = uid
        }
    }

    /// The names under which sockets are passed and found.
    package static let socketName = "keychain"
    package static let enclaveSocketName = "enclave"

    /// Runs the room until it is ended; what it says on the way out is for the log. The process is hardened before it
    /// reads the first byte. A test's program brings a clock that sleeps at its word, and may do `without` some protections.
    package static func main(
        _ words: [String], sleepClock: SleepClock = .ofThisMachine, without: Set<HardeningFeature> = []
    ) -> Never {
        do {
            let hardening = try RoomHardening(.keychaind, without: without)
            guard let arguments = try Arguments(words) else { leave(64, Arguments.usage) }
            try run(arguments, hardening, sleepClock)
        } catch let fault as SystemError {
            leave(1, "keychaind: \(fault.description)")
        } catch let fault as PrivateFolder.Fault {
            leave(1, "keychaind: \(fault.description)")
        } catch let fault as Service.Fault {
            leave(1, "keychaind: \(fault)")
        } catch let fault as InheritedSockets.Fault {
            leave(1, "keychaind: \(fault.description)")
        } catch {
            leave(1, "keychaind: cannot start")
        }
    }

    private static func run(_ arguments: Arguments, _ hardening: RoomHardening, _ sleepClock: SleepClock) throws -> Never {
        var logger = Logger(label: "keychaind") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .info
        let listener = try InheritedSockets().socket(socketName)
        let state = try PrivateFolder(path: arguments.state, creating: true)
        guard let lock = try state.lock("keychaind.lock") else { leave(1, "keychaind: another keychaind uses \(arguments.state)") }
        // What lies outside the state folder is out of reach when the room is shut in.
        let entitlements = try Roster.isOfThisProcess() ? EntitlementTable(logger: logger) : nil
        if entitlements != nil { NameService.load() }
        for sentence in try hardening.confine(state: state) { logger.warning("\(sentence)") }
        let address = ServerAddress(folder: arguments.enclaveFolder, socket: enclaveSocketName, serverUID: arguments.enclaveUID)
        let door = open(
            state: state, enclave: address, lent: LeasedKeyStore(), entitlements: entitlements, sleepClock: sleepClock, logger: logger)
        defer { withExtendedLifetime(lock) {} }
        let connections = ConnectionTable(
            max: DescriptorLimit.connections(ConnectionLimits.connectionsMax), sharing: entitlements == nil ? .oneUser : .owners)
        try door.run(ConnectionServer(listener: listener, connections: connections, admits: { _ in true }))
    }

    /// The room's door, with its standing connection begun.
    package static func open(
        state: PrivateFolder, enclave: ServerAddress, lent: LeasedKeyStore, entitlements: EntitlementTable? = nil,
        sleepClock: SleepClock = .ofThisMachine,
        logger: Logger
    ) -> KeychainConnectionHandler {
        LeaseConnection(address: enclave, lent: lent, logger: logger).start()
        let admission = Admission()
        let accounts = admission.accounts
        let isInstalled = entitlements != nil
        let databases = DatabaseRegistry(
            state: state, owner: { accounts.owner(of: $0) }, holderName: { isInstalled ? accounts.holderName(of: $0) : nil })
        let parts = KeychainServices(
            databases: databases, lent: lent, now: { MachineClock.referenceMicroseconds }, sleepClock: sleepClock, logger: logger)
        let holders = StateHolders(accounts: admission.accounts) { state }
        return KeychainConnectionHandler(parts: parts, enclave: enclave, entitlements: entitlements, admission: admission, holders: holders)
    }

    private static func leave(_ code: Int32, _ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(code)
    }
}
