// The launcher with the enclave that has a cheap key derivation, for tests; never installed. Words in the file
// `enclave-arguments` of its home, one a line, are further arguments of that enclave. Where VAUBAN_TEST_BUS names a bus, the
// watcher watches that one and believes the login manager of the user VAUBAN_TEST_BUS_OWNER.

import Foundation
import Launcher
import VaubanLinuxHost

let words = CommandLine.arguments
let home = words.firstIndex(of: "--home").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
let extra = home.flatMap { SmallFile.text(path: "\($0)/enclave-arguments", max: 4096) } ?? ""
let enclave = ["enclaved-testing"] + extra.split(separator: "\n").map(String.init)
let environment = ProcessInfo.processInfo.environment
if let bus = environment["VAUBAN_TEST_BUS"], let owner = environment["VAUBAN_TEST_BUS_OWNER"] {
    LauncherProgram.main(enclave: enclave, watcher: ["vauban-watcher-testing", "--bus", bus, "--bus-owner-uid", owner])
}
LauncherProgram.main(enclave: enclave)
