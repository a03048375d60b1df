// Checks whether the loader puts foreign code into every room although no file and no unit was changed: through its own list of libraries,
// or through a variable that systemd sets for all units.

import Glibc
import VaubanLinuxHost
import VaubanPlainText

package struct PreloadCheck {
    /// A prefix of the paths; empty except in tests.
    private let root: String
    /// The required owner: root, except in tests.
    private let owner: UInt32
    private static let list = "/etc/ld.so.preload"
    /// The folders with systemd's own settings (systemd-system.conf(5)).
    private static let folders = ["/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd"]

    package init(root: String = "", owner: UInt32 = 0) {
        self.root = root
        self.owner = owner
    }

    package var result: IntegrityCheck {
        let name = "no preloading"
        guard let libraries else {
            return IntegrityCheck(
                .vauban, name, is: .notMet, by: "\(Self.list) cannot be read, or is too large", isAltered: true, root: "do that",
                measure: "remove the file, unless you know what it is for")
        }
        var packages = PackagedLibraries(root: root, owner: owner)
        if let other = libraries.first(where: { !packages.contains($0) }) {
            return IntegrityCheck(
                .vauban, name, is: .notMet,
                by: """
                    \(Self.list) puts libraries into every program, the service included; \(SafeText.visible(other)) is not a file of an \
                    installed package that only root can change
                    """, isAltered: true, root: "do that", measure: "remove it there, unless you know what it is for")
        }
        if let fault = files.lazy.compactMap(Self.fault).first {
            return IntegrityCheck(.vauban, name, is: .notMet, by: fault, isAltered: true, root: "do that", measure: "remove it there")
        }
        let names = libraries.isEmpty ? "names nothing" : "names libraries of installed packages alone"
        return IntegrityCheck(
            .vauban, name, is: .met, by: "\(Self.list) \(names), and systemd sets no LD_ variable for its units", root: "change either")
    }

    /// The entries of the loader's list, without comments, which begin with `#` (ld.so(8)); nil if it cannot be read.
    private var libraries: [String]? {
        guard access(root + Self.list, F_OK) == 0 else { return [] }
        guard let bytes = SmallFile.bytes(path: root + Self.list, max: 1 << 20) else { return nil }
        let separators: [UInt8] = [0x20, 0x09, 0x3A]
        return bytes.split(separator: 0x0A).flatMap { line in
            // The loader takes a carriage return for a part of the name; a line that contains nothing else names no library.
            line.prefix { $0 != 0x23 }.split { separators.contains($0) }.filter { $0 != [0x0D] }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The files with systemd's own settings, including those that systemd reads instead of them.
    private var files: [String] {
        Self.folders.map { root + $0 }.flatMap { folder in
            let more = SystemdFile.names(in: "\(folder)/system.conf.d").filter { $0.hasByteSuffix(".conf") }
            return ["\(folder)/system.conf"] + more.map { "\(folder)/system.conf.d/\($0)" }
        }
    }

    /// Returns how a file sets a variable of the loader, or may do so: systemd unescapes the words, and joins their quoted parts.
    private static func fault(_ path: String) -> String? {
        let shown = SafeText.visible(path)
        guard let file = SystemdFile(path) else { return access(path, F_OK) == 0 ? "\(shown) cannot be read, or is too large" : nil }
        let words = file.words(of: "DefaultEnvironment")
        if words.contains(where: { $0.starts(with: Array("LD_".utf8)) }) {
            return "DefaultEnvironment= in \(shown) sets an LD_ variable for every unit"
        }
        guard words.contains(where: { $0.contains { $0 == 0x5C || SystemdFile.isQuotation($0) } }) else { return nil }
        return "DefaultEnvironment= in \(shown) may set an LD_ variable: it has a backslash, or a quotation mark inside a word"
    }
}
