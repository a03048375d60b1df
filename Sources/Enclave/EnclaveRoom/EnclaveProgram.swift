// How enclaved opens, as every room does: harden, take what was passed, name the peers, then read the first byte.

package import Enclave
import EnclaveSoftware
import Glibc
import VaubanLinuxHost

package enum EnclaveProgram {
    /// Runs the room. The shipped program and the one for tests differ in the cost of a guess, in the clock, and in that
    /// only the latter records its steps.
    package static func main(
        _ arguments: [String], cost: StretchCost, clock: some EnclaveClock = SystemClock(), trace: (@Sendable (String) -> Void)? = nil
    ) -> Never {
        do {
            try ProcessHardening.apply()
            guard arguments.count == 3, arguments[1] == "--state" else {
                fail("usage: \(arguments.first ?? "enclaved") --state FOLDER; it is started by Vauban's launcher or by systemd", 64)
            }
            let sockets = try InheritedSockets()
            let folder = try PrivateFolder(path: arguments[2], creating: false)
            guard let lock = try folder.lock() else { fail("another enclaved uses \(arguments[2])", 75) }
            let host = EnclaveHost(
                backend: backend(in: folder), store: FileStateStore(in: folder), clock: clock, stretcher: PasscodeStretcher(cost),
                trace: trace)
            let room = try EnclaveRoom(host: host, peers: try RoomPeers())
            defer { withExtendedLifetime(lock) {} }
            try room.run(listener: try sockets.socket("enclave"))
        } catch {
            fail("\(error)", 71)
        }
    }

    private static func backend(in folder: PrivateFolder) -> any EnclaveBackend {
        do throws(BackendFault) {
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
