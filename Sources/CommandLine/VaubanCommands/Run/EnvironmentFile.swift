import Foundation
import VaubanRefusal
import VaubanSecretBytes

/// A file of variables with one `NAME=value` per line, as for a shell and `docker --env-file`. A value that begins with `vauban://` names
/// an item whose secret replaces it, so the file itself contains no secret.
package struct EnvironmentFile {
    package enum Value: Hashable {
        case plain(String)
        /// The name of an item in one argument.
        case item(String)
    }

    package let variables: [(name: String, value: Value)]

    private static let bytesMax = 1 << 20

    /// Reads a file. If a line is invalid, throws an error that names the line without its content.
    package init(_ path: String) throws {
        let content = try InputFile.read(path, max: Self.bytesMax)
        guard let text = content.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw Refusal(.badParameter, "\(SafeText.visible(path)) is not text")
        }
        var variables: [(name: String, value: Value)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }).enumerated() {
            do throws(ParsingError) {
                if let variable = try Self.variable(line) { variables.append(variable) }
            } catch {
                throw Refusal(.badParameter, "\(SafeText.visible(path)), line \(index + 1): \(error.why)")
            }
        }
        self.variables = variables
    }

    /// Parses a line. Returns nil for an empty line and for a comment.
    private static func variable(_ line: Substring) throws(ParsingError) -> (name: String, value: Value)? {
        var text = line.trimmingCharacters(in: .whitespaces)
        if text.isEmpty || text.hasPrefix("#") { return nil }
        if text.hasPrefix("export ") { text = text.dropFirst(7).trimmingCharacters(in: .whitespaces) }
        guard let sign = text.firstIndex(of: "=") else { throw ParsingError("a line must be NAME=value") }
        let name = String(text[..<sign])
        guard VariableName.isOne(name) else { throw ParsingError(VariableName.rule) }
        let value = try unquoted(text[text.index(after: sign)...])
        guard !value.utf8.contains(0) else { throw ParsingError("the value contains a zero byte") }
        return (name, try ItemReference.name(in: value).map(Value.item) ?? .plain(value))
    }

    /// Returns the value without quotation marks and without a comment after it, which a space separates.
    private static func unquoted(_ text: Substring) throws(ParsingError) -> String {
        guard let mark = text.first, mark == "\"" || mark == "'" else {
            guard let comment = text.firstRange(of: /\s+#/) else { return String(text) }
            return String(text[..<comment.lowerBound])
        }
        let inner = text.dropFirst()
        guard let close = inner.indices.first(where: { inner[$0] == mark && isComment(inner[inner.index(after: $0)...]) }) else {
            throw ParsingError(inner.contains(mark) ? "text follows the closing quotation mark" : "a quotation mark is not closed")
        }
        return String(inner[..<close])
    }

    /// Whether nothing, or only a comment, follows a closing quotation mark.
    private static func isComment(_ rest: Substring) -> Bool { rest.wholeMatch(of: /\s*|\s+#.*/) != nil }
}

/// The names that an environment variable can have.
package enum VariableName {
    package static let rule = "a variable name consists of letters, digits and _, and does not begin with a digit"

    package static func isOne(_ name: String) -> Bool { name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil }
}
