// The sandbox that systemd applies to the rooms, and the files that only root may write: the list of rooms and the rooms' state.

import Glibc
import VaubanLinuxHost
import VaubanPlainText

package struct UnitChecks {
    private let manifest: IntegrityManifest
    /// Where systemd looks for units, the first wins.
    private static let places = [
        "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/etc/systemd/system",
        "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
    ]
    /// Settings of a drop-in that weaken nothing.
    private static let harmless: Set<String> = [
        "Description", "Documentation", "After", "Before", "Wants", "Requires", "LimitNOFILE", "MemoryHigh", "MemoryMax", "MemoryLow",
        "CPUWeight", "CPUQuota", "IOWeight", "TasksMax", "Nice", "Slice", "RestartSec", "TimeoutStartSec", "TimeoutStopSec",
        "AssertPathExists", "LoadCredential", "LoadCredentialEncrypted",
    ]

    package init(_ manifest: IntegrityManifest) { self.manifest = manifest }

    package func run() -> [IntegrityCheck] {
        let units = manifest.entries.map(\.path).filter { path in
            path.hasByteSuffix(".service") && PathBytes.parts(of: path)?.folder.hasByteSuffix("/systemd/system") == true
        }
        // Only the service has units.
        guard !units.isEmpty else { return [] }
        return [sandbox(units), roster, state]
    }

    private func sandbox(_ units: [String]) -> IntegrityCheck {
        let root = "start any program outside of it"
        for unit in units {
            guard let text = SmallFile.text(path: unit, max: 1 << 20), Self.settings(text).contains("ProtectSystem") else {
                return IntegrityCheck(
                    .vauban, "units", is: .notMet, by: "\(SafeText.visible(unit)) has no ProtectSystem=", isAltered: true, root: root)
            }
            if let other = Self.change(of: unit) {
                return IntegrityCheck(
                    .vauban, "units", is: .notMet, by: "\(SafeText.visible(other)) changes \(PathBytes.name(of: unit))", isAltered: true,
                    root: root,
                    measure: "systemctl revert \(PathBytes.name(of: unit))")
            }
        }
        return IntegrityCheck(
            .vauban, "units", is: .met,
            by: "ProtectSystem= and the rest of the sandbox in \(units.count) units, and nothing that overrides it",
            root: root, measure: "nothing: the programs repeat the sandbox themselves (Specs/hardening.md)")
    }

    /// Returns a unit of the same name that systemd prefers, or a drop-in that sets more than harmless things.
    private static func change(of unit: String) -> String? {
        guard let (folder, name) = PathBytes.parts(of: unit) else { return nil }
        for place in places {
            if place.isSameBytes(as: folder) { break }
            if access("\(place)/\(name)", F_OK) == 0 { return "\(place)/\(name)" }
        }
        for place in places {
            for file in files(in: "\(place)/\(name).d") where file.hasByteSuffix(".conf") {
                let path = "\(place)/\(name).d/\(file)"
                guard let text = SmallFile.text(path: path, max: 1 << 20), settings(text).isSubset(of: harmless) else { return path }
            }
        }
        return nil
    }

    private static func settings(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").compactMap { line in
                guard let sign = line.firstIndex(of: "="), !line.hasPrefix("#"), !line.hasPrefix(";") else { return nil }
                return line[..<sign].split(separator: " ").first.map(String.init)
            })
    }

    private static func files(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.sorted()
    }

    /// The list of rooms decides whom clients trust, and entitlements which groups a program has.
    private var roster: IntegrityCheck {
        let places: [String] = [Roster.path, "/etc/vauban", "/etc/vauban/entitlements"]
        let paths = places.filter { access($0, F_OK) == 0 }
        let root = "change both"
        guard paths.contains(Roster.path) else {
            return IntegrityCheck(.vauban, "list of rooms", is: .notMet, by: "\(Roster.path) is missing", isAltered: true, root: root)
        }
        var folders = OwnedFolders()
        if let open = paths.first(where: { !RootFile.isOnly(of: 0, $0) })
            ?? folders.openPart(above: Roster.path, owner: 0, allowsStaff: false)
        {
            return IntegrityCheck(
                .vauban, "list of rooms", is: .notMet, by: "others than root can change \(open)", isAltered: true, root: root)
        }
        return IntegrityCheck(
            .vauban, "list of rooms", is: .met, by: "only root can change it and the entitlements in /etc/vauban", root: root,
            measure: "what the passcode protects stays encrypted")
    }

    /// Each folder of state belongs to its room alone.
    private var state: IntegrityCheck {
        let root = "read and replace it; what the passcode protects stays encrypted until it is typed"
        let measure = "a backend of hardware, which Vauban does not have yet"
        for (name, user) in [("enclave", "vauban-enclave"), ("keychain", "vauban-keychain"), ("reader", "vauban-reader")] {
            let path = "/var/lib/vauban/\(name)"
            var facts = stat()
            guard lstat(path, &facts) == 0 else { continue }
            guard facts.st_mode & (S_IFMT | 0o777) == S_IFDIR | 0o700, AccountNames.user(facts.st_uid) == user else {
                return IntegrityCheck(
                    .vauban, "state", is: .notMet, by: "\(path) is not a folder of \(user) alone", isAltered: true, root: root,
                    measure: measure
                )
            }
        }
        return IntegrityCheck(
            .vauban, "state", is: .met, by: "the folders in /var/lib/vauban belong to their rooms alone, mode 0700", root: root,
            measure: measure)
    }
}
