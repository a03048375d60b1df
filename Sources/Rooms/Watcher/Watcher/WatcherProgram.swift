import Glibc
internal import Logging
internal import VaubanLinuxHost
internal import VaubanRoomHardening

/// The program vauban-watcher: `--enclave-folder DIR --enclave-uid N`, started by the launcher or by systemd.
package enum WatcherProgram {
    /// Runs the program. `makeSettings` parses the words after these arguments, and gets the user whose screens count; nil is a usage
    /// error. The shipped program has no further words and no other settings.
    package static func main(
        usage: String = "vauban-watcher --enclave-folder DIR --enclave-uid N|roster",
        makeSettings: (_ words: [String], _ onlyUser: UInt32?) -> WatcherSettings? = { words, user in
            words.isEmpty ? WatcherSettings(onlyUser: user) : nil
        }
    ) -> Never {
        let log = Logger(label: "vauban-watcher", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.watcher)
            let words = Array(CommandLine.arguments.dropFirst())
            // In user mode the enclave is the user's own process, and other users' screens do not concern it.
            guard words.count >= 4, words[0] == "--enclave-folder", words[2] == "--enclave-uid", let uid = try Roster.enclaveUID(words[3]),
                let settings = makeSettings(Array(words[4...]), uid == geteuid() ? uid : nil)
            else {
                log.critical("usage: \(usage)")
                exit(64)
            }
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
