// The user's names of known servers, from the file of known hosts (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

import Glibc
internal import Synchronization
internal import VaubanLinuxHost
internal import VaubanPlainText

final class HostNames: Sendable {
    /// The file's path, if there is one.
    let path: String?
    /// The lines from the last time the file could be read. A file that replaces it later is out of the agent's reach.
    private let known: Mutex<[String]>

    init(path: String?) {
        self.path = path.flatMap { access($0, R_OK) == 0 ? $0 : nil }
        known = Mutex([])
        refresh()
    }

    static var ownFile: String? { getenv("HOME").map { "\(String(cString: $0))/.ssh/known_hosts" } }

    private func refresh() {
        guard let path, let text = SmallFile.text(path: path, max: AgentLimits.knownHostsBytesMax) else { return }
        known.withLock { $0 = text.split(separator: "\n").map(String.init) }
    }

    /// Returns the first name of the server with this key; nil if the file has none in the clear, as with hashed names.
    func name(of key: [UInt8]) -> String? {
        refresh()
        let wanted = Base64.text(of: key)
        return known.withLock { lines in
            for line in lines {
                let fields = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
                // A line that begins with a marker is about an authority or a revoked key.
                guard fields.count >= 3, let first = fields[0].first, !"#@|".contains(first), fields[2] == wanted else { continue }
                let names = fields[0].split(separator: ",")
                guard let name = names.first(where: { !$0.contains("*") && !$0.contains("?") && !$0.hasPrefix("!") }) else { continue }
                return PlainLine.of(String(name), charactersMax: AgentLimits.nameCharactersMax)
            }
            return nil
        }
    }
}
