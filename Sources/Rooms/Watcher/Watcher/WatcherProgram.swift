import Glibc
internal import Logging
internal import VaubanLinuxHost
internal import VaubanRoomHardening

/// The program vauban-watcher: `--enclave-folder DIR --enclave-uid N`, started by the launcher or by systemd.
package enum WatcherProgram {
    /// Runs the program with these arguments. `makeSettings` receives the only user whose screens count, if any; the shipped program
    /// changes nothing else.
    package static func main(
        _ words: [String] = Array(CommandLine.arguments.dropFirst()),
        makeSettings: (_ onlyUser: UInt32?) -> WatcherSettings = { WatcherSettings(onlyUser: $0) }
    ) -> Never {
        let log = Logger(label: "vauban-watcher", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.watcher)
            guard words.count == 4, words[0] == "--enclave-folder", words[2] == "--enclave-uid", let uid = try Roster.enclaveUID(words[3])
            else {
                log.critical("usage: vauban-watcher --enclave-folder DIR --enclave-uid N|roster")
                exit(64)
            }
            // In user mode the enclave is the user's own process, and other users' screens do not concern it.
            let settings = makeSettings(uid == geteuid() ? uid : nil)
            let room = try WatcherRoom(enclave: ServerAddress(folder: words[1], socket: "enclave", serverUID: uid), settings, log: log)
            // Everything opened later is a socket, and its threads start with `run`.
            for sentence in try hardening.confine() { log.warning("\(sentence)") }
            room.run()
        } catch {
            log.critical("\(error)")
            exit(1)
        }
    }
}
