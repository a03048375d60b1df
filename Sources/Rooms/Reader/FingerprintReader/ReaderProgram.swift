import Glibc
internal import Logging
internal import VaubanLinuxHost
internal import VaubanRoomHardening

/// The program vauban-reader: `--enclave-folder DIR --enclave-uid N --state DIR`, started by the launcher or by systemd.
package enum ReaderProgram {
    /// Runs the program with these arguments. The shipped program has no other settings.
    package static func main(
        _ words: [String] = Array(CommandLine.arguments.dropFirst()), _ settings: ReaderSettings = ReaderSettings()
    ) -> Never {
        let log = Logger(label: "vauban-reader", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.reader)
            guard words.count == 6, words[0] == "--enclave-folder", words[2] == "--enclave-uid", words[4] == "--state",
                let uid = try Roster.enclaveUID(words[3])
            else {
                log.critical("usage: vauban-reader --enclave-folder DIR --enclave-uid N|roster --state DIR")
                exit(64)
            }
            let state = try PrivateFolder(path: words[5], creating: false)
            guard let lock = try state.lock() else {
                log.critical("another vauban-reader uses \(words[5])")
                exit(75)
            }
            defer { withExtendedLifetime(lock) {} }
            let room = try ReaderRoom(
                enclave: ServerAddress(folder: words[1], socket: "enclave", serverUID: uid), state: state, settings, log: log)
            for sentence in try hardening.confine(state: state) { log.warning("\(sentence)") }
            room.run()
        } catch {
            log.critical("\(error)")
            exit(1)
        }
    }
}
