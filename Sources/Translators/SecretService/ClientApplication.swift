internal import VaubanAccessPolicy
internal import VaubanLinuxHost

/// The application of a client, which limits the items that it may read (Specs/secret-service.md, "Client access").
package enum ClientApplication: Hashable, Sendable {
    /// A program outside of sandboxes, which has all rights of the user.
    case user
    /// `flatpak:ID` or `snap:NAME`.
    case sandboxed(String)
    /// An application in a sandbox that cannot be identified or inspected.
    case unknown

    /// The proxy that flatpak runs between a sandbox and the bus, inside the control group of the application.
    private static let proxy = "xdg-dbus-proxy"
    private static let controlGroupsBytesMax = 64 << 10

    init(process: BusProcess?, program: String) {
        guard let process, let text = SmallFile.text(path: "/proc/\(process.number)/cgroup", max: Self.controlGroupsBytesMax),
            process.isStillThere
        else {
            self = .unknown
            return
        }
        let groups = text.split(separator: "\n").compactMap {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last
        }
        let names = Set(groups.flatMap { $0.split(separator: "/") }.compactMap { Self.sandbox(of: String($0)) })
        switch (names.count, names.first) {
        case (0, _): self = program == Self.proxy ? .unknown : .user
        case (1, let name?) where ApplicationIdentifier(text: name).isWellFormed: self = .sandboxed(name)
        default: self = .unknown
        }
    }

    /// Returns the application of a systemd unit: `app-flatpak-ID-NUMBER.scope` (`flatpak-…` in old versions), `snap.NAME.APP….scope` or
    /// `.service`.
    private static func sandbox(of unit: String) -> String? {
        guard let end = [".scope", ".service"].first(where: unit.hasSuffix) else { return nil }
        let stem = unit.dropLast(end.count)
        if stem.hasPrefix("snap.") {
            return "snap:\(stem.split(separator: ".", omittingEmptySubsequences: false)[1])"
        }
        guard let start = ["app-flatpak-", "flatpak-"].first(where: stem.hasPrefix), let hyphen = stem.lastIndex(of: "-"),
            stem.index(after: hyphen) < stem.endIndex, stem[stem.index(after: hyphen)...].allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        // systemd escapes a hyphen within a name as `\x2d`.
        return "flatpak:\(stem[..<hyphen].dropFirst(start.count))".replacing(#"\x2d"#, with: "-")
    }

    /// The name for display.
    var words: String {
        switch self {
        case .user: "a program"
        case .unknown: "a sandboxed app that cannot be named"
        case .sandboxed(let name) where name.hasPrefix("flatpak:"): "the Flatpak \(name.dropFirst(8))"
        case .sandboxed(let name): "the Snap \(name.dropFirst(5))"
        }
    }
}
