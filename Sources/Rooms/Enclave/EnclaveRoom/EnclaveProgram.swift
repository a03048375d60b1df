// Starts enclaved, as every room starts: hardens itself, takes the inherited sockets, resolves the peers' uids, and then reads its first
// byte.

package import Enclave
import EnclaveSoftware
import Glibc
package import VaubanLinuxHost
internal import VaubanRoomHardening

/// The differences between the shipped program and the one for tests.
package struct EnclaveOptions: Sendable {
    package var cost: StretchCost
    package var clock: any EnclaveClock = SystemClock()
    /// Receives each step of the evidence protocol.
    package var trace: (@Sendable (String) -> Void)?
    /// Protections to omit, as on a machine that lacks them.
    package var without: Set<HardeningFeature> = []
    /// Whether a change of the enrolled fingers can be detected; nil derives it from the mode, as the shipped program does.
    package var distinguishesFingerSets: Bool?

    package init(cost: StretchCost) { self.cost = cost }
}

package enum EnclaveProgram {
    /// Runs the room. `arguments` are the program's name and the arguments from the launcher.
    package static func main(_ arguments: [String], _ options: EnclaveOptions) -> Never {
        do {
            let hardening = try RoomHardening(.enclaved, without: options.without)
            guard arguments.count == 3, arguments[1] == "--state" else {
                fail("usage: \(arguments.first ?? "enclaved") --state FOLDER; Vauban's launcher or systemd starts it", 64)
            }
            let sockets = try InheritedSockets()
            let folder = try PrivateFolder(path: arguments[2], creating: false)
            guard let lock = try folder.lock() else { fail("another enclaved uses \(arguments[2])", 75) }
            // Done before confinement, after which the user database and the machine's ID cannot be read.
            let peers = try RoomPeers()
            let isInstalled = try Roster.isOfThisProcess()
            let distinguishesFingerSets = options.distinguishesFingerSets ?? isInstalled
            let machineID = SmallFile.text(path: "/etc/machine-id", max: 64)
            let cost = options.cost.within(memory: MachineMemory.limit)
            let missing = try hardening.confine(state: folder)
            let backend = backend(in: folder)
            let accounts = Accounts.ofThisMachine
            let store = FileStateStore(in: folder, holderName: { isInstalled ? accounts.holderName(of: $0) : nil })
            var host = EnclaveHost(
                backend: backend, store: store, clock: options.clock,
                stretcher: PasscodeStretcher(cost), trace: options.trace)
            host.missingProtections = missing
            host.distinguishesFingerSets = distinguishesFingerSets
            host.owner = { accounts.owner(of: $0) }
            // Without a device secret, nothing could have been copied.
            if backend is DeviceSecret, let warning = MachineFingerprint.warning(in: folder, machineID: machineID) {
                host.missingProtections.append(warning)
                report(warning)
            }
            let room = try EnclaveRoom(host: host, peers: peers, accounts: accounts, holders: isInstalled ? store.holders(accounts) : nil)
            defer { withExtendedLifetime(lock) {} }
            try room.run(listener: try sockets.socket("enclave"))
        } catch {
            fail("\(error)", 71)
        }
    }

    private static func backend(in folder: PrivateFolder) -> any EnclaveBackend {
        do throws(BackendError) {
            return try DeviceSecret(in: folder)
        } catch {
            report(error.description)
            return BrokenBackend(error)
        }
    }

    private static func report(_ why: String) {
        let line = "enclaved: \(why)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }

    private static func fail(_ why: String, _ code: Int32) -> Never {
        report(why)
        exit(code)
    }
}
