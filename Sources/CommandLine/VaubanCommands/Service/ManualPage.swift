import Glibc
import VaubanPlainText

/// A page of the manual that a message or a help text names. `scripts/install` puts the pages below the prefix of the programs.
package enum ManualPage: String, CaseIterable {
    case comingFrom = "coming-from"
    case commandLine = "command-line"
    case integrity

    /// The path of the page: of the installed one below the prefix of this program, otherwise its place in the repository.
    var path: String { place(beside: Self.ownFolder) }

    /// - Parameter folder: That of this program, such as `/usr/lib/vauban`; nil if it is unknown.
    package func place(beside folder: String?) -> String {
        let prefix = folder.flatMap { PathBytes.parts(of: $0) }.flatMap { PathBytes.parts(of: $0.folder)?.folder }
        if let prefix {
            let installed = "\(prefix == "/" ? "" : prefix)/share/doc/vauban/Manual/\(rawValue).md"
            if access(installed, R_OK) == 0 { return installed }
        }
        return "Manual/\(rawValue).md"
    }

    private static var ownFolder: String? {
        guard let real = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(real) }
        return PathBytes.parts(of: String(cString: real))?.folder
    }
}
