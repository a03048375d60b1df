// The launcher for tests, never installed. Its enclave has a cheap key derivation, and the file `clock` in keychaind's state folder moves
// the clocks of keychaind. Lines in the file `enclave-arguments` of its home are additional arguments of the enclave. If VAUBAN_TEST_BUS
// names a bus, the watcher uses it and trusts the login manager of the user VAUBAN_TEST_BUS_OWNER. There is no reader, since tests play its
// part, unless VAUBAN_TEST_READER_BUS names its bus.

import Foundation
import Launcher
import VaubanLinuxHost

let words = CommandLine.arguments
let home = words.firstIndex(of: "--home").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil } ?? ""
let extra = SmallFile.text(path: "\(home)/enclave-arguments", max: 4096) ?? ""
let environment = ProcessInfo.processInfo.environment
var watcher: RoomPrograms.Program = ("vauban-watcher", [])
if let bus = environment["VAUBAN_TEST_BUS"], let owner = environment["VAUBAN_TEST_BUS_OWNER"] {
    watcher = ("vauban-attendant-testing", ["--bus", bus, "--bus-owner-uid", owner])
}
var reader: RoomPrograms.Program?
if let bus = environment["VAUBAN_TEST_READER_BUS"] {
    reader = ("vauban-attendant-testing", ["--bus", bus, "--bus-owner-uid", environment["VAUBAN_TEST_BUS_OWNER"] ?? "0"])
}
LauncherProgram.main(
    RoomPrograms(
        enclave: ("enclaved-testing", extra.split(separator: "\n").map(String.init)),
        keychain: ("keychaind-testing", ["--clock", "\(home)/keychain/clock"]), watcher: watcher, reader: reader))
