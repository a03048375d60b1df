import Glibc
import Logging
import VaubanLinuxHost
import VaubanRoomHardening

/// The program vauban-fetcher, the one room with network access: it queries websites for the applications that they list
/// (Specs/associated-domains.md). `--keychain-uid N`, started with its socket by systemd.
package enum FetcherProgram {
    package static func main() -> Never {
        let log = Logger(label: "vauban-fetcher", factory: { StreamLogHandler.standardError(label: $0) })
        do {
            let hardening = try RoomHardening(.fetcher)
            let words = Array(CommandLine.arguments.dropFirst())
            guard words.count == 2, words[0] == "--keychain-uid", let uid = try Roster.uid(ofWord: words[1], room: .keychaind) else {
                log.critical("usage: vauban-fetcher --keychain-uid N|roster")
                exit(64)
            }
            let listener = try InheritedSockets().socket("fetcher")
            NameService.loadForHosts()
            for sentence in try hardening.confine(alsoReads: existing) { log.warning("\(sentence)") }
            try FetcherRoom(listener: listener, keychainUID: uid, log: log).run()
        } catch {
            log.critical("\(error)")
            exit(1)
        }
    }

    /// The existing folders besides `/etc` that may contain the lists of name servers and of authorities.
    private static var existing: [String] {
        [
            "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/usr/share/ca-certificates",
            "/usr/local/share/ca-certificates",
        ]
        .filter { access($0, F_OK) == 0 }
    }
}
