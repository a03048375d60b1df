// room-starter NAME=FOLDER/SOCKET -- COMMAND…: binds a socket and executes the command with that socket, passed as systemd would pass it,
// so that a test can start one room as one system user without systemd. With `-` in place of the socket nothing is passed.

import Foundation
import Glibc
import VaubanLinuxHost

func fail(_ why: String) -> Never {
    let line = "room-starter: \(why)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(64)
}

let words = CommandLine.arguments
guard words.count > 3, words[2] == "--" else { fail("usage: room-starter NAME=FOLDER/SOCKET -- COMMAND…") }
if words[1] != "-" {
    let parts = words[1].split(separator: "=", maxSplits: 1).map(String.init)
    let socket = URL(fileURLWithPath: parts.last ?? "")
    var parked: Int32 = -1
    do {
        let folder = try PrivateFolder(path: socket.deletingLastPathComponent().path, creating: false, sharedEntry: true)
        let bound = try folder.bindSocket(socket.lastPathComponent, mode: 0o666)
        parked = fcntl(bound.number, F_DUPFD, 64)
    } catch {
        fail("\(error)")
    }
    // Done last, when nothing else is open under this number; dup2 clears close-on-exec, which passes the descriptor.
    guard parked >= 0, dup2(parked, 3) == 3 else { fail("cannot pass the socket") }
    // The command keeps this process's ID, even through setpriv.
    setenv("LISTEN_FDS", "1", 1)
    setenv("LISTEN_PID", "\(getpid())", 1)
    setenv("LISTEN_FDNAMES", parts[0], 1)
}
var arguments: [UnsafeMutablePointer<CChar>?] = words[3...].map { strdup($0) } + [nil]
execvp(words[3], &arguments)
fail("cannot run \(words[3]): \(String(cString: strerror(errno)))")
