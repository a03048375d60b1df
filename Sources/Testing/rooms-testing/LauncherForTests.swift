import Foundation
import Launcher
import VaubanLinuxHost

/// The launcher, with rooms that are this program too.
///
/// The file `clock` in keychaind's state folder moves the clocks of keychaind. Lines in the file `enclave-arguments` of its home are
/// additional arguments of the enclave. If VAUBAN_TEST_BUS names a bus, the watcher uses it and trusts the login manager of the user
/// VAUBAN_TEST_BUS_OWNER. There is no reader, since tests play its part, unless VAUBAN_TEST_READER_BUS names its bus.
enum LauncherForTests {
    private static let program = "rooms-testing"

    static func main() -> Never {
        let words = CommandLine.arguments
        let home = words.firstIndex(of: "--home").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil } ?? ""
        let extra = SmallFile.text(path: "\(home)/enclave-arguments", max: 4096) ?? ""
        let environment = ProcessInfo.processInfo.environment
        var watcher: RoomPrograms.Program = ("vauban-watcher", [])
        if let bus = environment["VAUBAN_TEST_BUS"], let owner = environment["VAUBAN_TEST_BUS_OWNER"] {
            watcher = (program, ["vauban-watcher", "--bus", bus, "--bus-owner-uid", owner])
        }
        var reader: RoomPrograms.Program?
        if let bus = environment["VAUBAN_TEST_READER_BUS"] {
            reader = (program, ["vauban-reader", "--bus", bus, "--bus-owner-uid", environment["VAUBAN_TEST_BUS_OWNER"] ?? "0"])
        }
        LauncherProgram.main(
            RoomPrograms(
                enclave: (program, ["enclaved"] + extra.split(separator: "\n").map(String.init)),
                keychain: (program, ["keychaind", "--clock", "\(home)/keychain/clock"]), watcher: watcher, reader: reader))
    }
}
