import TestSupport

/// A program of this build.
struct Program {
    let name: String

    init(_ name: String) { self.name = name }

    var path: String { "\(BuiltPrograms.folder)/\(name)" }

    func callAsFunction(_ words: String..., input: String = "") -> Command { command(words, input: input) }

    func command(_ words: [String], input: String = "") -> Command {
        let shown = ([name] + words.map(Command.quoted)).joined(separator: " ")
        return Command(words: [path] + words, input: input, shown: input.isEmpty ? shown : "\(shown) <<<\(Command.quoted(input))")
    }

    /// The program with files as its input and output, so that these stay files at a terminal too.
    func callAsFunction(_ word: String, from input: String, to output: String) -> Command {
        let redirected = #"exec "$1" "$2" <"$3" >"$4""#
        return Command(
            words: ["/bin/sh", "-c", redirected, "sh", path, word, input, output], input: "", shown: "\(name) \(word) <\(input) >\(output)")
    }
}

/// What a user types at a shell.
struct Command {
    let words: [String]
    let input: String
    /// The same as a shell would have it.
    let shown: String

    static func quoted(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./".contains($0)) }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: #"'\''"#))'"
    }
}
