import Foundation
import VaubanRefusal
import VaubanSecretBytes

/// A file of variables, one `NAME=value` a line, as a shell and `docker --env-file` have them. A value that begins with `vauban://`
/// names an item, whose secret takes its place, so that the file itself has no secret in it.
struct EnvironmentFile {
    enum Value: Hashable {
        case plain(String)
        /// An item in one word.
        case item(String)
    }

    let variables: [(name: String, value: Value)]

    static let scheme = "vauban://"
    private static let bytesMax = 1 << 20

    /// Refused as a whole where a line cannot be understood; the refusal names the line and has nothing of what is in it.
    init(_ path: String) throws {
        let content = try InputFile.read(path, max: Self.bytesMax)
        guard let text = content.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is no text")
        }
        var variables: [(name: String, value: Value)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }).enumerated() {
            do throws(LineError) {
                if let variable = try Self.variable(line) { variables.append(variable) }
            } catch {
                throw Refusal(.badParameter, "\(SafeText.visible(path)), line \(index + 1): \(error.why)")
            }
        }
        self.variables = variables
    }

    private struct LineError: Error { let why: String }

    /// Nil for an empty line and for a comment.
    private static func variable(_ line: Substring) throws(LineError) -> (name: String, value: Value)? {
        var text = line.trimmingCharacters(in: .whitespaces)
        if text.isEmpty || text.hasPrefix("#") { return nil }
        if text.hasPrefix("export ") { text = text.dropFirst(7).trimmingCharacters(in: .whitespaces) }
        guard let sign = text.firstIndex(of: "=") else { throw LineError(why: "there is no = in it; a line is NAME=value") }
        let name = String(text[..<sign])
        guard VariableName.isOne(name) else { throw LineError(why: VariableName.rule) }
        let value = try unquoted(text[text.index(after: sign)...])
        guard !value.utf8.contains(0) else { throw LineError(why: "there is a zero byte in it, which ends a variable") }
        guard value.hasPrefix(scheme) else { return (name, .plain(value)) }
        // A space or a percent sign of a name may be written as in a URL.
        let word = String(value.dropFirst(scheme.count))
        guard let decoded = word.removingPercentEncoding, !decoded.isEmpty else {
            throw LineError(why: "after \(scheme) there is no name of an item; write \(scheme)service/account")
        }
        return (name, .item(decoded))
    }

    private static func unquoted(_ text: Substring) throws(LineError) -> String {
        guard let mark = text.first, mark == "\"" || mark == "'" else { return String(text) }
        guard text.count > 1, text.last == mark else { throw LineError(why: "a quotation mark is not closed") }
        return String(text.dropFirst().dropLast())
    }
}

/// What a variable of the environment can be called.
enum VariableName {
    static let rule = "a variable has a name of letters, digits and _, and begins with no digit"

    static func isOne(_ name: String) -> Bool { name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil }
}
