import Foundation
import Glibc
import VaubanLinuxHost
import VaubanRefusal

/// The program that the user's own file for a bus name starts; the session bus reads it before the system's.
enum ServiceActivation {
    case missing
    /// This program named vauban, with the verb for the Secret Service.
    case vauban(program: String)
    case other(path: String)

    static let verb = " secret-service --foreground"
    private static let bytesMax = 64 << 10

    init(of name: String) throws(Refusal) {
        let path = try Self.path(of: name)
        var status = stat()
        guard lstat(path, &status) == 0 else {
            self = .missing
            return
        }
        let line = Self.lines(of: path).first { $0.hasPrefix("Exec=") }
        guard let line, let (program, rest) = Self.word(line.dropFirst(5)), rest.hasPrefix(Self.verb), program.hasPrefix("/"),
            program.hasSuffix("/vauban")
        else {
            self = .other(path: path)
            return
        }
        self = .vauban(program: program)
    }

    /// The file that starts another program.
    var otherPath: String? { if case .other(let path) = self { path } else { nil } }

    static func path(of name: String) throws(Refusal) -> String {
        "\(try UserServiceFiles.folder("XDG_DATA_HOME", ".local/share"))/dbus-1/services/\(name).service"
    }

    /// A word as the bus parses it: with shell quotes, and without specifiers.
    static func quoted(_ word: String) -> String {
        "\"\(["\\", "\"", "$", "`"].reduce(word) { $0.replacing($1, with: "\\\($1)") })\""
    }

    /// Whether the user's own entry keeps a program from starting at login.
    static func isSwitchedOff(_ entry: String) -> Bool {
        let lines = lines(of: entry).map { $0.replacing(" ", with: "").lowercased() }
        return lines.contains("hidden=true") || lines.contains("x-gnome-autostart-enabled=false")
    }

    /// Returns the word that a quoted text begins with, and what follows it.
    private static func word(_ text: Substring) -> (word: String, rest: Substring)? {
        guard text.first == "\"" else { return nil }
        var word = ""
        var rest = text.dropFirst()
        while let next = rest.popFirst() {
            switch next {
            case "\"": return (word, rest)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                word.append(escaped)
            default: word.append(next)
            }
        }
        return nil
    }

    /// Returns no lines if the file cannot be read.
    private static func lines(of path: String) -> [String] {
        guard let text = SmallFile.text(path: path, max: bytesMax) else { return [] }
        return text.split(separator: "\n").map { String($0).trimmingCharacters(in: .whitespaces) }
    }
}
