// The launcher with the enclave that has a cheap key derivation, for tests; never installed. Where VAUBAN_TEST_BUS names a
// bus, the watcher watches that one and believes the login manager of the user VAUBAN_TEST_BUS_OWNER.

import Foundation
import Launcher

let environment = ProcessInfo.processInfo.environment
if let bus = environment["VAUBAN_TEST_BUS"], let owner = environment["VAUBAN_TEST_BUS_OWNER"] {
    LauncherProgram.main(enclave: "enclaved-testing", watcher: ["vauban-watcher-testing", "--bus", bus, "--bus-owner-uid", owner])
}
LauncherProgram.main(enclave: "enclaved-testing")
