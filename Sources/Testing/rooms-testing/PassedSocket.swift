import Foundation
import Glibc
import VaubanLinuxHost

/// Binds a socket and executes the command with that socket, passed as systemd would pass it, so that a test can start one room as one
/// system user without systemd. With `-` in place of the socket nothing is passed.
enum PassedSocket {
    /// `words` are `NAME=FOLDER/SOCKET -- COMMAND…`.
    static func main(_ words: [String]) -> Never {
        guard words.count > 2, words[1] == "--" else { fail("usage: rooms-testing with-socket NAME=FOLDER/SOCKET|- -- COMMAND…") }
        if words[0] != "-" { pass(words[0]) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words[2...].map { strdup($0) } + [nil]
        execvp(words[2], &arguments)
        fail("cannot run \(words[2]): \(String(cString: strerror(errno)))")
    }

    private static func pass(_ named: String) {
        let parts = named.split(separator: "=", maxSplits: 1).map(String.init)
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
}
