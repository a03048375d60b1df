import Foundation
import Glibc
internal import VaubanAuthenticationClient
import VaubanLinuxHost
internal import VaubanPlainText
package import VaubanUserModel

/// The desktop's name and icon of a program, found by its identity in the system: its executable, or its flatpak or snap. Uses only entries
/// that root alone can change, since any program of the user could write others.
package struct ApplicationDirectory: Sendable {
    package struct Entry: Hashable, Sendable {
        package let name: String
        /// A name in the icon theme, or the path of an image.
        package let icon: String?

        package init(name: String, icon: String?) {
            self.name = name
            self.icon = icon
        }
    }

    /// Folders of entries, by descending priority.
    private let folders: [String]

    package init(folders: [String]) { self.folders = folders }
    private static let entryBytesMax = 256 * 1024
    private static let entriesMax = 4096

    package static let ofThisSystem = ApplicationDirectory(folders: [
        "/usr/local/share/applications", "/usr/share/applications", "/var/lib/flatpak/exports/share/applications",
        "/var/lib/snapd/desktop/applications",
    ])

    package func entry(of caller: CallerName) -> Entry? {
        // An interpreter has no name of its own, even if entries start it.
        guard caller.gap == nil else { return nil }
        if let confinement = caller.confinement { return entry(of: confinement) }
        guard let path = caller.path else { return nil }
        return entries { _ in true }.first { Self.program(of: $0)?.isSameBytes(as: path) ?? false }?.entry
    }

    private func entry(of confinement: CallerName.Confinement) -> Entry? {
        switch confinement.kind {
        case .flatpak: entries { $0.isSameBytes(as: "\(confinement.name).desktop") }.first?.entry
        // A snap's entries are named after it: `firefox_firefox.desktop`.
        case .snap: entries { $0.hasBytePrefix("\(confinement.name)_") }.first?.entry
        }
    }

    private func entries(where isWanted: (String) -> Bool) -> [DesktopEntry] {
        folders.flatMap { folder -> [DesktopEntry] in
            guard Self.isRoots(Self.status(of: folder)), let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                return []
            }
            return names.sorted().prefix(Self.entriesMax).compactMap { name in
                guard name.hasByteSuffix(".desktop"), isWanted(name) else { return nil }
                let number = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                guard number >= 0 else { return nil }
                let file = Descriptor(number)
                var status = stat()
                guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Self.isRoots(status) else { return nil }
                guard let bytes = SmallFile.bytes(of: file, max: Self.entryBytesMax) else { return nil }
                return String(validating: bytes, as: UTF8.self).flatMap(DesktopEntry.init)
            }
        }
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func isRoots(_ status: stat?) -> Bool {
        guard let status else { return false }
        return status.st_uid == 0 && status.st_mode & 0o022 == 0
    }

    /// Returns the executable that an entry starts, as the kernel would name it.
    private static func program(of entry: DesktopEntry) -> String? {
        guard let command = entry.program else { return nil }
        let candidates =
            command.hasBytePrefix("/") ? [command] : ["/usr/local/bin", "/usr/bin", "/bin", "/usr/games"].map { "\($0)/\(command)" }
        for candidate in candidates {
            if let real = realpath(candidate, nil) {
                defer { free(real) }
                return String(cString: real)
            }
        }
        return nil
    }
}

/// The keys used of one `.desktop` file (Desktop Entry Specification 1.5).
struct DesktopEntry {
    let entry: ApplicationDirectory.Entry
    /// The program of `Exec`, if it is started without a command. A program that runs a given command, such as a terminal, is excluded:
    /// every command that it runs would appear under its name.
    let program: String?

    init?(_ text: String) {
        var values: [Substring: Substring] = [:]
        var isMain = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") { isMain = line == "[Desktop Entry]" }
            guard isMain, !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            let key = line[..<equals].drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
            if values[key] == nil { values[key] = line[line.index(after: equals)...].drop(while: \.isWhitespace) }
        }
        guard values["Type"] == "Application", let name = values["Name"] else { return nil }
        let shown = PlainLine.of(String(name), charactersMax: PromptWords.nameMax)
        guard !shown.isEmpty else { return nil }
        entry = ApplicationDirectory.Entry(name: shown, icon: values["Icon"].map(String.init))
        let words = (values["Exec"] ?? "").split(separator: " ").map { $0.trimmingCharacters(in: ["\""]) }
        // `%u` and the like are placeholders for files; options do not change which program runs.
        program = words.dropFirst().allSatisfy { $0.hasPrefix("%") || $0.hasPrefix("-") } ? words.first : nil
    }
}
