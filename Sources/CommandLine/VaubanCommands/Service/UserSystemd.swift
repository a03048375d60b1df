import Foundation
import Glibc

/// The user's systemd, and the quoting of words in its units.
enum UserSystemd {
    /// Whether there is a user manager. Without one, units take effect at the next login.
    static var isRunning: Bool {
        guard let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }) else { return false }
        return access("\(runtime)/systemd/private", F_OK) == 0
    }

    /// A word as systemd reads it: quoted, with specifiers escaped, and variables where it expands them.
    static func quoted(_ word: String, isCommand: Bool = false) -> String {
        let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
        return "\"\(isCommand ? escaped.replacing("$", with: "$$") : escaped)\""
    }

    /// Returns the words of a command line whose words `quoted` has quoted, or need no quoting.
    static func words(of line: String) -> [String] {
        var words = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in line {
            switch character {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted:
                isEscaped = true
                continue
            case "\"":
                isQuoted.toggle()
                continue
            case " " where !isQuoted:
                words.append("")
                continue
            default: break
            }
            words[words.count - 1].append(character)
        }
        return words.map { $0.replacing("%%", with: "%").replacing("$$", with: "$") }
    }

    /// Runs systemctl for the user, if there is a user manager.
    static func call(_ commands: [[String]]) {
        guard isRunning else { return }
        for words in commands { _ = try? ChildCommand.run(["systemctl", "--user"] + words) }
    }
}
