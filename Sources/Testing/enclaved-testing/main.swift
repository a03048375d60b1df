// enclaved with a cheap KDF, so that tests can enter many passcodes. Never installed. It has options that the shipped program lacks:
// `--without FEATURE,…` behaves as on a machine without these protections, `--clock FILE` moves the clocks with a file, `--trace FILE`
// records the steps of the evidence protocol. It accepts items for the current enrollment in user mode too, unless `--finger-sets by-mode`
// makes it behave as the shipped program, and `--cost shipped` makes an attempt cost what it costs there.

import Enclave
import EnclaveRoom
import Foundation
import Glibc
import VaubanLinuxHost

func fail(_ why: String) -> Never {
    FileHandle.standardError.write(Data("enclaved-testing: \(why)\n".utf8))
    exit(64)
}

/// Removes an option of this program and returns its value; the remaining arguments are the room's.
func take(_ name: String, from words: inout [String]) -> String? {
    guard let index = words.firstIndex(of: name) else { return nil }
    guard index + 1 < words.count else { fail("\(name) needs a value") }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
}

var words = CommandLine.arguments
var options = EnclaveOptions(cost: StretchCost(log2Rounds: 10, blockSizeMin: 8))
if let names = take("--without", from: &words) {
    for name in names.split(separator: ",") {
        guard let feature = HardeningFeature(rawValue: String(name)) else { fail("\(name) is not a protection") }
        options.without.insert(feature)
    }
}
if let path = take("--clock", from: &words) {
    guard let clock = FileClock(path: path) else { fail("\(path) cannot be read") }
    options.clock = clock
}
if let path = take("--trace", from: &words) {
    guard let recorder = TraceRecorder(path: path) else { fail("\(path) cannot be written") }
    options.trace = { recorder.record($0) }
}
if let cost = take("--cost", from: &words) {
    guard cost == "shipped" else { fail("\(cost) is not a cost") }
    options.cost = .shipped
}
options.distinguishesFingerSets = take("--finger-sets", from: &words) == "by-mode" ? nil : true
EnclaveProgram.main(words, options)
