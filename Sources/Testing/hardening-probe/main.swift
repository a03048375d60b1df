// Makes the attempts of a compromised room, and those of other programs on a room. For tests; never installed.
//
//   hardening-probe confined ROOM STATE [--without FEATURE,…] [--landlock VERSION] ATTEMPT…   each attempt in a separate process,
//                                                                        confined as ROOM is
//   hardening-probe attack PID                                           attempts on another process
//   hardening-probe protected                                            restricts itself as an application does, says so, and waits
//   hardening-probe taken MEASURE,… ATTEMPT…                              each attempt in a separate process that restricted itself so;
//                                                                        `none`: that did not
//   hardening-probe trace COMMAND…                                       the command with a tracer from its first moment
//
// Prints one line for each attempt: its arguments, then `done`, `refused ERRNO` or `killed SIGNAL`.

import CVaubanProbe
import Foundation
import Glibc
import VaubanProtection

func fail(_ why: String) -> Never {
    FileHandle.standardError.write(Data("hardening-probe: \(why)\n".utf8))
    exit(64)
}

/// Writes directly to the descriptor: a forked child must not inherit its parent's unwritten output.
func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

var words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "confined":
    words.removeFirst()
    Confined(&words).run()
case "attack":
    guard words.count == 2, let pid = pid_t(words[1]) else { fail("attack PID") }
    Attack(pid: pid).run()
case "protected":
    do {
        try ProcessProtection.restrict([.noNewPrivileges, .noNewCode])
    } catch {
        fail("\(error)")
    }
    say("restricted")
    // Wait until the end of standard input.
    var byte: UInt8 = 0
    while read(STDIN_FILENO, &byte, 1) > 0 {}
case "taken":
    Taken(Array(words.dropFirst())).run()
case "trace":
    guard words.count > 1 else { fail("trace COMMAND…") }
    let arguments: [UnsafeMutablePointer<CChar>?] = words.dropFirst().map { strdup($0) } + [nil]
    let ending = vauban_probe_trace(arguments)
    exit(ending >= 1000 ? 128 + ending - 1000 : ending)
default:
    fail("confined, attack, protected, taken or trace")
}
