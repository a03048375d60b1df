// How enclaved opens, as every room does: harden, take what was passed, name the peers, then read the first byte.

package import Enclave
import EnclaveSoftware
import Glibc
package import VaubanLinuxHost
internal import VaubanRoomHardening

/// All in which the shipped program and the one for tests differ.
package struct EnclaveOptions: Sendable {
    package var cost: StretchCost
    package var clock: any EnclaveClock = SystemClock()
    /// Told of each step of the evidence protocol.
    package var trace: (@Sendable (String) -> Void)?
    /// Protections that the room is to do without, as on a machine that lacks them.
    package var without: Set<HardeningFeature> = []
    /// Whether sets of fingers are told apart; nil where the mode says it, as in the shipped program.
    package var tellsFingerSets: Bool?

    package init(cost: StretchCost) { self.cost = cost }
}

package enum EnclaveProgram {
    /// Runs the room; `arguments` are the program's own name, then what the launcher gives.
    package static func main(_ arguments: [String], _ options: EnclaveOptions) -> Never {
        do {
            let hardening = try RoomHardening(.enclaved, without: options.without)
            guard arguments.count == 3, arguments[1] == "--state" else {
                fail("usage: \(arguments.first ?? "enclaved") --state FOLDER; it is started by Vauban's launcher or by systemd", 64)
            }
            let sockets = try InheritedSockets()
            let folder = try PrivateFolder(path: arguments[2], creating: false)
            guard let lock = try folder.lock() else { fail("another enclaved uses \(arguments[2])", 75) }
            // The list of the system's users is out of reach when the room is shut in, and so is what tells of the machine.
            let peers = try RoomPeers()
            let isInstalled = try Roster.isOfThisProcess()
            let tellsFingerSets = options.tellsFingerSets ?? isInstalled
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
            host.tellsFingerSets = tellsFingerSets
            host.owner = { accounts.owner(of: $0) }
            // Without a device secret there is nothing that could have been copied.
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
