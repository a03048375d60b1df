// The sandbox that systemd applies to the rooms, and the files that only root may write: the list of rooms and the rooms' state.

import Glibc
import VaubanLinuxHost
import VaubanPlainText

package struct UnitChecks {
    private let manifest: IntegrityManifest
    /// A prefix of the paths; empty except in tests.
    private let root: String
    /// The folders in which systemd looks for units (systemd.unit(5)); the first match counts.
    private static let places = [
        "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/run/systemd/generator.early",
        "/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system", "/run/systemd/system.attached",
        "/run/systemd/generator", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
        "/run/systemd/generator.late",
    ]
    /// The settings of a drop-in that do not weaken the sandbox.
    private static let harmless: Set<String> = [
        "Description", "Documentation", "After", "Before", "Wants", "Requires", "LimitNOFILE", "MemoryHigh", "MemoryMax", "MemoryLow",
        "CPUWeight", "CPUQuota", "IOWeight", "TasksMax", "Nice", "Slice", "RestartSec", "TimeoutStartSec", "TimeoutStopSec",
        "TimeoutStopFailureMode",
        "AssertPathExists", "LoadCredential", "LoadCredentialEncrypted",
    ]

    package init(_ manifest: IntegrityManifest, root: String = "") {
        self.manifest = manifest
        self.root = root
    }

    package func run() -> [IntegrityCheck] {
        // Only the service has units.
        guard let sandbox else { return [] }
        return [sandbox, PreloadCheck(root: root).result, roster, grants, state]
    }

    /// The sandbox in the units; nil if none is installed.
    package var sandbox: IntegrityCheck? {
        let units = manifest.entries.map(\.path).filter { path in
            [".service", ".socket"].contains { path.hasByteSuffix($0) }
                && PathBytes.parts(of: path)?.folder.hasByteSuffix("/systemd/system") == true
        }
        return units.isEmpty ? nil : sandbox(units)
    }

    private func sandbox(_ units: [String]) -> IntegrityCheck {
        let root = "start any program outside of it"
        for unit in units {
            guard !unit.hasByteSuffix(".service") || SystemdFile(unit)?.names.contains("ProtectSystem") == true else {
                return IntegrityCheck(
                    .vauban, "units", is: .notMet, by: "\(SafeText.visible(unit)) has no ProtectSystem=", isAltered: true, root: root)
            }
            if let other = change(of: unit) {
                return IntegrityCheck(
                    .vauban, "units", is: .notMet, by: "\(SafeText.visible(other)) changes \(PathBytes.name(of: unit))", isAltered: true,
                    root: root,
                    measure: "systemctl revert \(PathBytes.name(of: unit))")
            }
        }
        return IntegrityCheck(
            .vauban, "units", is: .met,
            by: "ProtectSystem= and the rest of the sandbox in \(units.count) units and sockets, and nothing that overrides it",
            root: root, measure: "nothing: the programs repeat the sandbox themselves (Specs/hardening.md)")
    }

    /// Returns a unit of the same name that takes precedence, or a drop-in that sets more than harmless settings.
    private func change(of unit: String) -> String? {
        guard let (folder, name) = PathBytes.parts(of: unit) else { return nil }
        var isPreferred = true
        for place in Self.places.map({ root + $0 }) {
            if place.isSameBytes(as: folder) { isPreferred = false }
            for entry in SystemdFile.names(in: place) {
                if isPreferred, Self.isUnit(entry, of: name) { return "\(place)/\(entry)" }
                guard Self.isFolderOfDropIns(entry, of: name) else { continue }
                for file in SystemdFile.names(in: "\(place)/\(entry)") where file.hasByteSuffix(".conf") {
                    let path = "\(place)/\(entry)/\(file)"
                    guard SystemdFile(path)?.names.isSubset(of: Self.harmless) == true else { return path }
                }
            }
        }
        return nil
    }

    /// Returns whether systemd reads a file of this name as the unit, or as an instance of the unit.
    private static func isUnit(_ entry: String, of name: String) -> Bool {
        if entry.isSameBytes(as: name) { return true }
        let (stem, type) = parts(of: name)
        return stem.hasByteSuffix("@") && entry.hasBytePrefix(stem) && entry.hasByteSuffix(type)
    }

    /// Returns whether systemd looks for drop-ins of the unit in a folder of this name: `NAME.service.d`, the same for an instance,
    /// `service.d`, and for each dash in the name the part up to it, such as `vauban-.service.d`.
    private static func isFolderOfDropIns(_ entry: String, of name: String) -> Bool {
        guard entry.hasByteSuffix(".d") else { return false }
        let folder = String(decoding: entry.utf8.dropLast(2), as: UTF8.self)
        let (stem, type) = parts(of: name)
        if isUnit(folder, of: name) || folder.isSameBytes(as: String(type.dropFirst())) { return true }
        let bytes = Array(stem.utf8)
        return bytes.indices.contains { index in
            bytes[index] == 0x2D && folder.isSameBytes(as: String(decoding: bytes[...index], as: UTF8.self) + type)
        }
    }

    /// Returns the name of a unit without its type, and the type with its dot.
    private static func parts(of name: String) -> (stem: String, type: String) {
        let type = name.hasByteSuffix(".socket") ? ".socket" : ".service"
        return (String(decoding: name.utf8.dropLast(type.utf8.count), as: UTF8.self), type)
    }

    /// The list of rooms decides whom clients trust; the entitlements decide which groups a program has.
    private var roster: IntegrityCheck {
        let places: [String] = [Roster.path, "/etc/vauban", "/etc/vauban/entitlements"]
        let paths = places.filter { access($0, F_OK) == 0 }
        let root = "change both"
        guard paths.contains(Roster.path) else {
            return IntegrityCheck(.vauban, "system users", is: .notMet, by: "\(Roster.path) is missing", isAltered: true, root: root)
        }
        var folders = OwnedFolders()
        if let open = paths.first(where: { !RootFile.isOnly(of: 0, $0) })
            ?? folders.openPart(above: Roster.path, owner: 0, allowsStaff: false)
        {
            return IntegrityCheck(
                .vauban, "system users", is: .notMet, by: "others than root can change \(open)", isAltered: true, root: root)
        }
        return IntegrityCheck(
            .vauban, "system users", is: .met, by: "only root can change their list and the entitlements in /etc/vauban", root: root,
            measure: "what the passcode protects stays encrypted")
    }

    /// The permissions that root grants to programs without the user's passcode.
    package var grants: IntegrityCheck {
        let name = "no grants of root"
        let folder = "/etc/vauban/entitlements"
        let path = root + folder
        if access(path, R_OK | X_OK) != 0, errno != ENOENT {
            return IntegrityCheck(.vauban, name, is: .unknown, by: "\(folder) cannot be read")
        }
        let files = SystemdFile.names(in: path).filter { $0.hasByteSuffix(".plist") }
        guard !files.isEmpty else { return IntegrityCheck(.vauban, name, is: .met, by: "\(folder) has none", root: "add some") }
        let shown = files.prefix(8).map(SafeText.visible).joined(separator: ", ") + (files.count > 8 ? " and \(files.count - 8) more" : "")
        return IntegrityCheck(
            .vauban, name, is: .notMet, by: "\(shown) in \(folder): the programs and teams in them have what they say, for every user",
            measure: "remove those that you do not know; they count from the next start of the keychain service on")
    }

    /// Each state folder belongs to its room alone.
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
            .vauban, "state", is: .met, by: "the folders in /var/lib/vauban belong to the service's users alone, mode 0700", root: root,
            measure: measure)
    }
}
