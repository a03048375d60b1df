// The names of known servers, from the files of known hosts (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

import Glibc
internal import Synchronization
internal import VaubanLinuxHost

final class HostNames: Sendable {
    private struct Line: Sendable {
        let names: Substring
        /// The key in Base64.
        let key: Substring
    }

    private struct Known: Sendable {
        /// The lines of each file when it was last readable. The agent's confinement covers the present files only: a file that later
        /// replaces one cannot be read.
        var files: [[Line]]
        /// The names that were found for hashed names.
        var found: [Substring: String] = [:]
    }

    /// The paths of the files that exist.
    let paths: [String]
    /// The paths of the others, and of those of the files that could be read.
    private let missing: [String]
    private let readable: [String]
    private let known: Mutex<Known>

    init(paths: [String]) {
        let existing = paths.filter { access($0, R_OK) == 0 }
        self.paths = existing
        missing = paths.filter { !existing.contains($0) }
        readable = existing.filter { SmallFile.opened(path: $0) != nil }
        known = Mutex(Known(files: existing.map { _ in [] }))
        refresh()
    }

    /// Whether another agent that starts now could read a file that this one cannot, since the file was made or replaced meanwhile. A file
    /// that could never be read does not count, so that one start is enough.
    var isOutdated: Bool {
        missing.contains { access($0, R_OK) == 0 } || readable.contains { access($0, R_OK) == 0 && SmallFile.opened(path: $0) == nil }
    }

    /// The files that ssh reads by default, the user's first.
    static var usualFiles: [String] {
        let own = getenv("HOME").map { home in ["", "2"].map { "\(String(cString: home))/.ssh/known_hosts\($0)" } } ?? []
        return own + ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]
    }

    private func refresh() {
        for (index, path) in paths.enumerated() {
            guard let text = SmallFile.text(path: path, max: AgentLimits.knownHostsBytesMax) else { continue }
            let lines = text.split(separator: "\n").compactMap { line -> Line? in
                let fields = line.split(maxSplits: 3, whereSeparator: { $0 == " " || $0 == "\t" })
                // A line with a marker describes an authority or a revoked key.
                guard fields.count >= 3, let first = fields[0].first, !"#@".contains(first) else { return nil }
                return Line(names: fields[0], key: fields[2])
            }
            known.withLock { $0.files[index] = lines }
        }
    }

    /// Returns the name of the server with this key: the first one in the clear, otherwise one that a hash in the files confirms.
    /// Candidates for a hash are `places`, the names in the clear, and the names of well-known servers.
    func name(of key: [UInt8], places: () -> [String]) -> String? {
        refresh()
        let wanted = Base64.text(of: key)
        let lines = known.withLock { $0.files.joined().filter { $0.key == wanted } }
        return lines.lazy.compactMap { Self.clearNames(of: $0).first }.first ?? name(ofHashed: lines.map(\.names), places)
    }

    private func name(ofHashed names: [Substring], _ places: () -> [String]) -> String? {
        let hashed = names.prefix(AgentLimits.hashedNamesMax).compactMap(HashedName.init)
        guard !hashed.isEmpty else { return nil }
        let earlier = known.withLock(\.found)
        if let found = hashed.lazy.compactMap({ earlier[$0.text] }).first { return found }
        let clear = known.withLock { $0.files.joined().flatMap(Self.clearNames) }
        let compared = places().flatMap(Self.names(in:)) + Self.wellKnown + clear
        for name in compared.prefix(AgentLimits.comparedNamesMax) {
            guard let match = hashed.first(where: { $0.isHash(of: name) }) else { continue }
            known.withLock { $0.found[match.text] = name }
            return name
        }
        return nil
    }

    /// Returns the names of a line that are in the clear, without patterns. A hashed name is the only one of its line.
    private static func clearNames(of line: Line) -> [String] {
        guard line.names.first != "|" else { return [] }
        return line.names.split(separator: ",").filter { !$0.contains("*") && !$0.contains("?") && !$0.hasPrefix("!") }.map(String.init)
    }

    /// Returns the possible server names in a place as users write it: `git.example.org`, `github.com/anna`, `build-3:2222, as deploy`,
    /// `ssh://git@example.org`. A name with a port has the format of known-hosts files: `[build-3]:2222`.
    private static func names(in place: String) -> [String] {
        place.lowercased().split(whereSeparator: { $0.isWhitespace || ",;/@".contains($0) }).flatMap { part -> [String] in
            let parts = part.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, !part.hasPrefix("[") else { return [String(part)] }
            return parts[1].isEmpty ? [String(parts[0])] : ["[\(parts[0])]:\(parts[1])", String(parts[0])]
        }
    }

    private static let wellKnown = [
        "github.com", "[ssh.github.com]:443", "gitlab.com", "[altssh.gitlab.com]:443", "bitbucket.org", "[altssh.bitbucket.org]:443",
        "codeberg.org", "git.sr.ht", "ssh.dev.azure.com", "git.launchpad.net", "salsa.debian.org", "gitlab.gnome.org", "invent.kde.org",
        "gitlab.freedesktop.org",
    ]
}
