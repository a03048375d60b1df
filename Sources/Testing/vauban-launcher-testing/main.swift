// The launcher with the enclave that has a cheap key derivation, for tests; never installed. Words in the file
// `enclave-arguments` of its home, one a line, are further arguments of that enclave.

import Launcher
import VaubanLinuxHost

let words = CommandLine.arguments
let home = words.firstIndex(of: "--home").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
let extra = home.flatMap { SmallFile.text(path: "\($0)/enclave-arguments", max: 4096) } ?? ""
LauncherProgram.main(enclave: "enclaved-testing", enclaveArguments: extra.split(separator: "\n").map(String.init))
