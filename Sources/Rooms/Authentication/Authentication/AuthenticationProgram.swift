import Glibc
internal import Logging
internal import VaubanLinuxHost
internal import VaubanRoomHardening

/// The program authd: `--enclave-folder DIR --enclave-uid N`, started with its socket by the launcher or by systemd.
package enum AuthenticationProgram {
    package static func main() -> Never {
        let log = Logger(label: "authd", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.authd)
            guard let enclave = try enclave(in: Array(CommandLine.arguments.dropFirst())) else {
                log.critical("usage: authd --enclave-folder DIR --enclave-uid N|roster")
                exit(64)
            }
            let listener = try InheritedSockets().socket("authentication")
            // Confinement puts the files in /etc out of reach.
            let identifiesCallers = try Roster.isOfThisProcess()
            if identifiesCallers { NameService.load() }
            for sentence in try hardening.confine() { log.warning("\(sentence)") }
            try AuthenticationRoom(listener: listener, enclave: enclave, identifiesCallers: identifiesCallers, log: log).run()
        } catch {
            log.critical("\(error)")
            exit(1)
        }
    }

    private static func enclave(in words: [String]) throws -> ServerAddress? {
        guard words.count == 4, words[0] == "--enclave-folder", words[2] == "--enclave-uid", let uid = try Roster.enclaveUID(words[3])
        else { return nil }
        return ServerAddress(folder: words[1], socket: "enclave", serverUID: uid)
    }
}
