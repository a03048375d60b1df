import ArgumentParser
import Glibc
import VaubanLinuxHost
import VaubanPlainText
import VaubanRefusal

struct Integrity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrity",
        abstract: "Show and verify what protects Vauban's files and this system.",
        discussion: """
            Example:
              vauban integrity status
              vauban integrity verify
            """,
        subcommands: [IntegrityStatus.self, IntegrityVerify.self, IntegrityEnable.self, IntegrityDisable.self])

    /// Returns the folder of this program's own file, which is the folder of the installed programs.
    static func folder() throws -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "This program cannot find its own file; check that /proc is mounted")
        }
        defer { free(real) }
        return PathBytes.parts(of: String(cString: real))?.folder ?? "/"
    }

    static func manifest(in folder: String) throws -> IntegrityManifest? {
        do {
            return try IntegrityManifest.installed(in: folder)
        } catch let error as ParsingError {
            throw Refusal(
                .unsupported, "\(SafeText.visible(folder))/\(IntegrityManifest.name) \(error.why); install Vauban again")
        }
    }

    static func requiredManifest(in folder: String) throws -> IntegrityManifest {
        guard let manifest = try manifest(in: folder) else {
            throw Refusal(
                .unsupported, "\(SafeText.visible(folder)) has no manifest: this vauban was not installed by a package or scripts/install")
        }
        return manifest
    }
}

struct IntegrityStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which protections are in force, by what, and what root can still do.",
        discussion: """
            Exits 0 if nothing is found altered or weaker than the installation made it, and 1 otherwise. A protection that this \
            system lacks is shown as not met and does not count as altered.

            Example:
              vauban integrity status
              vauban integrity status --json
            """)

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let folder = try Integrity.folder()
        let installation = InstallationChecks(folder: folder, manifest: try Integrity.manifest(in: folder))
        let report = IntegrityReport(installation.run() + SystemChecks.run() + KernelChecks().run())
        print(json ? try ItemDescription.json(report) : report.text)
        if !report.good { throw ExitCode(1) }
    }
}

struct IntegrityVerify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare each installed file with the installation's manifest, and look for what overrides them.",
        discussion: """
            Reports files that are missing, have other contents, modes or owners, can be changed by others, or are not part of the \
            installation; and what else vauban integrity status shows as altered, such as units and drop-ins that take the place of \
            the installed ones, and libraries that are loaded into every program. The manifest is not signed: root can change it \
            together with the files. Exits 0 if nothing is altered, and 1 otherwise.

            Example:
              vauban integrity verify
              vauban integrity verify --json
            """)

    private struct Document: Encodable {
        let good: Bool
        let entries: Int
        let differences: [IntegrityDifference]
        let altered: [IntegrityCheck]
    }

    @Flag(help: "Print one JSON document.")
    var json = false

    func run() throws {
        let folder = try Integrity.folder()
        let manifest = try Integrity.requiredManifest(in: folder)
        let differences = InstalledFiles.differences(from: manifest)
        let altered = InstallationChecks(folder: folder, manifest: manifest).alteredBesidesFiles()
        let isGood = differences.isEmpty && altered.isEmpty
        if json {
            print(
                try ItemDescription.json(
                    Document(good: isGood, entries: manifest.entries.count, differences: differences, altered: altered)))
        } else {
            for difference in differences { print("\(SafeText.visible(difference.path)) \(difference.detail)") }
            for check in altered { print("\(check.name): \(check.by)") }
            if isGood { print("All \(manifest.entries.count) files, folders and links are as they were installed.") }
        }
        if !isGood { throw ExitCode(1) }
    }
}

struct IntegrityEnable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Make the installed files immutable.",
        discussion: """
            Sets the immutable flag on programs, units and the manifest, after comparing them with it. Nobody can then change, \
            rename or remove them, root included, until vauban integrity disable; an upgrade and an uninstallation clear the flag \
            first. It protects against mistakes, not against root. Requires root and a file system with that flag.

            Example:
              sudo vauban integrity enable
            """)

    func run() throws {
        try requireRoot()
        let folder = try Integrity.folder()
        let manifest = try Integrity.requiredManifest(in: folder)
        // Only the installer and the package clear the flag before they replace files.
        guard manifest.entries.contains(where: { $0.path.hasByteSuffix("/vauban-enclaved.socket") }) else {
            throw Refusal(.unsupported, "Only the files of the installed service can be made immutable, and this is another installation")
        }
        if let difference = InstalledFiles.differences(from: manifest).first {
            throw Refusal(
                .unsupported, "\(SafeText.visible(difference.path)) \(difference.detail); nothing was changed. See: vauban integrity verify"
            )
        }
        let count = try ImmutableFiles.set(true, on: ImmutableFiles.paths(of: manifest, folder: folder))
        print("\(count) files and folders are immutable now.")
    }
}

struct IntegrityDisable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Let the installed files be changed again.",
        discussion: """
            Clears the flag that vauban integrity enable sets. Requires root.

            Example:
              sudo vauban integrity disable
            """)

    func run() throws {
        try requireRoot()
        let folder = try Integrity.folder()
        let manifest = try Integrity.requiredManifest(in: folder)
        let count = try ImmutableFiles.set(false, on: ImmutableFiles.paths(of: manifest, folder: folder))
        print("\(count) files and folders can be changed again.")
    }
}

/// Throws unless the user is root, before any file is read: only root may change the flags.
private func requireRoot() throws {
    guard geteuid() == 0 else { throw Refusal(.notAllowedHere, "Only root can change the immutable flag: run it with sudo") }
}
