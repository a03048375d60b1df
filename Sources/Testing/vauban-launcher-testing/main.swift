// The launcher with the enclave that has a cheap key derivation, and with rooms whose clocks a test can move by the file
// `clock` in the service's folder; never installed. Where VAUBAN_TEST_BUS names a bus, the watcher watches that one and
// believes the login manager of the user VAUBAN_TEST_BUS_OWNER.

import Foundation
import Launcher

let environment = ProcessInfo.processInfo.environment
var watcher = ["vauban-watcher"]
if let bus = environment["VAUBAN_TEST_BUS"], let owner = environment["VAUBAN_TEST_BUS_OWNER"] {
    watcher = ["vauban-watcher-testing", "--bus", bus, "--bus-owner-uid", owner]
}
LauncherProgram.main(RoomPrograms(enclave: "enclaved-testing", keychain: "keychaind-testing", clock: "clock", watcher: watcher))
