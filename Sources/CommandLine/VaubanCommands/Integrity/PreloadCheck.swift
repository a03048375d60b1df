// Whether the loader puts code of others into every room, without a change of a file or a unit: by its own list of libraries, or by a
// variable that systemd sets for all units.

import Glibc
import VaubanLinuxHost
import VaubanPlainText

package struct PreloadCheck {
    /// Before the paths, in tests.
    private let root: String
    private static let list = "/etc/ld.so.preload"
    /// Where systemd looks for its own settings (systemd-system.conf(5)).
    private static let folders = ["/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd"]

    package init(root: String = "") { self.root = root }

    package var result: IntegrityCheck {
        let name = "no preloading"
        if namesLibraries {
            return IntegrityCheck(
                .vauban, name, is: .notMet, by: "\(Self.list) puts libraries into every program, the rooms included", isAltered: true,
                root: "do that", measure: "remove the file, unless you know what it is for")
        }
        if let fault = files.lazy.compactMap(Self.fault).first {
            return IntegrityCheck(.vauban, name, is: .notMet, by: fault, isAltered: true, root: "do that", measure: "remove it there")
        }
        return IntegrityCheck(
            .vauban, name, is: .met, by: "\(Self.list) names nothing, and systemd sets no LD_ variable for its units", root: "change either"
        )
    }

    /// Whether the loader's list has more than comments, which begin with `#` (ld.so(8)), or cannot be read.
    private var namesLibraries: Bool {
        guard access(root + Self.list, F_OK) == 0 else { return false }
        guard let bytes = SmallFile.bytes(path: root + Self.list, max: 1 << 20) else { return true }
        let separators: [UInt8] = [0x20, 0x09, 0x0D, 0x3A]
        return bytes.split(separator: 0x0A).contains { line in line.prefix { $0 != 0x23 }.contains { !separators.contains($0) } }
    }

    /// The files with systemd's own settings, also those in whose place it takes others.
    private var files: [String] {
        Self.folders.map { root + $0 }.flatMap { folder in
            let more = SystemdFile.names(in: "\(folder)/system.conf.d").filter { $0.hasByteSuffix(".conf") }
            return ["\(folder)/system.conf"] + more.map { "\(folder)/system.conf.d/\($0)" }
        }
    }

    /// Says how a file sets a variable of the loader, or may do so: systemd unescapes the words, and joins their quoted parts.
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
