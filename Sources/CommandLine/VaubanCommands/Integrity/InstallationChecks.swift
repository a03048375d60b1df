// The protections of the installation's own files: contents, owners, flags, mounts, and the sandbox of its units.

import Glibc
import VaubanLinuxHost
import VaubanPlainText

package struct InstallationChecks {
    private let manifest: IntegrityManifest?
    /// The folder of the programs.
    private let folder: String

    package init(folder: String, manifest: IntegrityManifest?) {
        self.folder = folder
        self.manifest = manifest
    }

    package func run() -> [IntegrityCheck] {
        guard let manifest else {
            return [
                IntegrityCheck(
                    .vauban, "installed files", is: .unknown,
                    by: "\(SafeText.visible(folder)) has no manifest: this program was not installed")
            ]
        }
        return [files(manifest), path(), immutable(manifest), readOnly()] + UnitChecks(manifest).run()
    }

    /// Returns the checks of everything besides the files themselves that was altered or is weaker than installed.
    package func alteredBesidesFiles() -> [IntegrityCheck] {
        guard let manifest else { return [] }
        return ([immutable(manifest)] + UnitChecks(manifest).run()).filter(\.isAltered)
    }

    private func files(_ manifest: IntegrityManifest) -> IntegrityCheck {
        let differences = InstalledFiles.differences(from: manifest)
        let root = "replace the files and the manifest, which is not signed"
        let measure = "dm-verity or another read-only image of \(SafeText.visible(folder))"
        guard let first = differences.first else {
            let count = manifest.entries.count
            return IntegrityCheck(
                .vauban, "installed files", is: .met, by: "\(count) entries have the contents, modes and owners of the manifest",
                root: root,
                measure: measure)
        }
        let more = differences.count > 1 ? ", and \(differences.count - 1) more: vauban integrity verify" : ""
        return IntegrityCheck(
            .vauban, "installed files", is: .notMet, by: "\(SafeText.visible(first.path)) \(first.detail)\(more)", isAltered: true,
            root: root,
            measure: measure)
    }

    private func path() -> IntegrityCheck {
        let owner = manifest?.owner.flatMap(AccountNames.uid) ?? 0
        var folders = OwnedFolders()
        guard let part = folders.openPart(from: folder, owner: owner, allowsStaff: false) else {
            return IntegrityCheck(
                .vauban, "owners above them", is: .met,
                by: "\(owner == 0 ? "root owns" : "you own") \(SafeText.visible(folder)) and every folder above it")
        }
        return IntegrityCheck(
            .vauban, "owners above them", is: .notMet, by: "others can change \(SafeText.visible(part))",
            measure: "chown root and chmod go-w that folder")
    }

    private func immutable(_ manifest: IntegrityManifest) -> IntegrityCheck {
        let root = "clear the flag: it stops mistakes, not root (CAP_LINUX_IMMUTABLE)"
        let measure = "a read-only image, or a system without that capability"
        var set = 0
        var missing: [String] = []
        for path in ImmutableFiles.paths(of: manifest, folder: folder) {
            switch ImmutableFiles.flags(of: path) {
            case .success(let flags) where flags.contains(.immutable): set += 1
            case .success: missing.append(path)
            case .failure:
                return IntegrityCheck(
                    .vauban, "immutable", is: .unknown,
                    by: "the file system of \(SafeText.visible(path)) has no such flag, or it cannot be read")
            }
        }
        if missing.isEmpty, set > 0 {
            return IntegrityCheck(
                .vauban, "immutable", is: .met, by: "\(set) files and folders (FS_IOC_GETFLAGS)", root: root, measure: measure)
        }
        guard set > 0 else {
            return IntegrityCheck(.vauban, "immutable", is: .notMet, by: "no file (FS_IOC_GETFLAGS)", measure: "vauban integrity enable")
        }
        return IntegrityCheck(
            .vauban, "immutable", is: .notMet, by: "\(missing.count) of \(set + missing.count) lost the flag, such as \(missing[0])",
            isAltered: true, root: root, measure: measure)
    }

    private func readOnly() -> IntegrityCheck {
        MountFacts(path: folder).check(.vauban, name: "read-only")
    }
}

/// Whether a folder is on a read-only mount, and whether the kernel verifies what it reads from there.
package struct MountFacts {
    private let path: String
    /// The folder above `/sys`, which is `/` except in tests.
    private let root: String

    package init(path: String, root: String = "") {
        self.path = path
        self.root = root
    }

    package func check(_ area: IntegrityCheck.Area, name: String) -> IntegrityCheck {
        let measure = "mount it read-only from a dm-verity device, as image-based distributions do"
        var mount = statvfs()
        var facts = stat()
        guard statvfs(path, &mount) == 0, stat(path, &facts) == 0 else {
            return IntegrityCheck(area, name, is: .unknown, by: "\(SafeText.visible(path)) cannot be examined")
        }
        // For a device-mapper device, the kernel reports its kind.
        let device = "\(Self.major(facts.st_dev)):\(Self.minor(facts.st_dev))"
        let kind = SmallFile.text(path: "\(root)/sys/dev/block/\(device)/dm/uuid", max: 256) ?? ""
        if kind.hasPrefix("CRYPT-VERITY-") {
            return IntegrityCheck(area, name, is: .met, by: "\(SafeText.visible(path)) is on dm-verity: the kernel verifies each block")
        }
        // ST_RDONLY
        guard mount.f_flag & 1 != 0 else {
            return IntegrityCheck(
                area, name, is: .notMet, by: "\(SafeText.visible(path)) is on a writable mount",
                root: "write there, to the device beneath it, and mount over it", measure: measure)
        }
        return IntegrityCheck(
            area, name, is: .met, by: "\(SafeText.visible(path)) is on a read-only mount",
            root: "remount it, write to the device, and mount over it",
            measure: measure)
    }

    private static func major(_ device: dev_t) -> UInt64 { ((UInt64(device) >> 8) & 0xFFF) | ((UInt64(device) >> 32) & ~0xFFF) }
    private static func minor(_ device: dev_t) -> UInt64 { (UInt64(device) & 0xFF) | ((UInt64(device) >> 12) & ~0xFF) }
}

/// The folders that belong to the system (C-239).
package enum SystemChecks {
    private static let folders = ["/bin", "/sbin", "/lib", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/etc", "/boot"]

    package static func run() -> [IntegrityCheck] {
        var owned = OwnedFolders()
        let open = folders.filter { access($0, F_OK) == 0 }.compactMap { owned.openPart(from: $0, owner: 0, allowsStaff: false) }
        let owners =
            open.isEmpty
            ? IntegrityCheck(
                .system, "owners", is: .met, by: "only root can change \(folders.joined(separator: ", "))", root: "change all of it",
                measure: "a read-only image of /usr with dm-verity")
            : IntegrityCheck(
                .system, "owners", is: .notMet, by: "others can change \(Set(open).sorted().joined(separator: ", "))",
                measure: "chown root and chmod go-w")
        return [
            owners, MountFacts(path: "/usr").check(.system, name: "/usr read-only"),
            MountFacts(path: "/").check(.system, name: "/ read-only"),
        ]
    }
}
