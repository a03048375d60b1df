import Foundation
import Testing

/// How errors are worded (CONTRIBUTING.md, "Language"), as far as a machine can tell. Each failure names the file and the line.
@Suite struct MessageTests {
    @Test("Errors begin with a capital letter or a name, and end without a period") func errorsFollowTheRule() throws {
        var count = 0
        let complete = try Self.completeReasons()
        for file in SourceTree.ownSwiftFiles() {
            let name = SourceTree.name(of: file)
            guard !name.hasPrefix("Tests/"), !name.hasPrefix("Sources/Testing/") else { continue }
            for message in ErrorMessage.all(in: try SourceTree.text(of: file)) {
                count += 1
                if let fault = message.fault(completeReasons: complete) {
                    Issue.record("\(name):\(message.line): \(fault): \(message.text)")
                }
            }
        }
        #expect(count > 900, "too few messages were found for this to mean anything")
    }

    /// Lines of logs are for administrators, who know the rooms.
    @Test("No text that a user may see contains an internal word") func textsHaveNoInternalWords() throws {
        var count = 0
        for file in SourceTree.ownSwiftFiles() {
            let name = SourceTree.name(of: file)
            guard !name.hasPrefix("Tests/"), !name.hasPrefix("Sources/Testing/"), name != "Package.swift" else { continue }
            let source = try SourceTree.text(of: file)
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            for literal in SwiftText(source).literals where InternalWords.isText(literal.text) {
                count += 1
                guard let word = InternalWords.first(in: literal.text), !InternalWords.isOfLog(lines[literal.line - 1]) else { continue }
                Issue.record("\(name):\(literal.line): “\(word)” is an internal word: \(literal.text)")
            }
        }
        #expect(count > 4000, "too few texts were found for this to mean anything")
    }

    @Test("Texts with internal words are found, and nothing else") func internalWordsAreFound() {
        for (source, word) in Self.textSamples {
            let texts = SwiftText(source).literals.map(\.text).filter(InternalWords.isText)
            let found = texts.compactMap { InternalWords.first(in: $0) }
            #expect(found == (word.map { [$0] } ?? []), "in: \(source)")
        }
        let text = SwiftText("let a = 1\nlet b = \"\"\"\n    one\n    two\n    \"\"\"; let c = \"x\"")
        #expect(text.literals.map(\.line) == [2, 5] && text.literals.map(\.text).last == "x")
        #expect(InternalWords.isOfLog("        log.info(\"the rooms are running\")"))
    }

    private static let textSamples: [(source: String, word: String?)] = [
        (#"say("The room is gone")"#, "room"), (#"say("Room 1 is gone")"#, "Room"), (#"say("\(f("x")) ends its witness")"#, "witness"),
        (#"say("a" + f("no digests"))"#, "digests"), ("say(\"\"\"\n    the wire\n    \"\"\")", "wire"),
        (#"say("name it build:digest, or not")"#, "digest"), (#"fields.bytes("digest")"#, nil), (#"say("run vauban-witness now")"#, nil),
        (#"say("/etc/vauban/rooms is missing")"#, nil), (#"say("all is well") // the room"#, nil), (#"say("\(room) is well")"#, nil),
        (#"say("the wired broom")"#, nil), (#"say("It is in its room. It stays")"#, "room"), (#"say("see room.txt now")"#, nil),
    ]

    @Test("Messages that break the rule are found, and nothing else") func theRuleFindsViolations() {
        for (source, isFault) in Self.samples {
            let messages = ErrorMessage.all(in: source)
            #expect(messages.count == 1, "in: \(source)")
            #expect(messages.contains { $0.fault(completeReasons: ["badParameter"]) != nil } == isFault, "in: \(source)")
        }
        #expect(ErrorMessage.all(in: "Refusal(.locked); Refusal(.locked, why); // Refusal(.locked, \"x.\")").isEmpty)
    }

    private static let samples: [(source: String, isFault: Bool)] = [
        ("Refusal(.badParameter, \"The file is empty\")", false),
        ("Refusal(.badParameter, \"the file is empty\")", true),
        ("Refusal(.badParameter, \"The file is empty.\")", true),
        ("Refusal(.badParameter, \"\\(f(\"a\")) is empty\")", false),
        ("Refusal(.badParameter, \"vauban approve needs a terminal\")", false),
        ("Refusal(\n    .badParameter,\n    \"The file \"\n        + \"is empty.\")", true),
        ("Refusal(.locked, \"the old one; run: vauban adopt\")", false),
        ("Refusal(.locked, \"The old one\")", true),
        ("Refusal(.locked, \"KWallet is locked\")", false),
        ("ValidationError(\"Use one.\")", true),
        ("ValidationError(\"--all takes nothing else\")", false),
        ("ParsingError(\"The line is empty\")", true),
        ("SkipReason(\"its address has no host\")", false),
        ("say(\"vauban: nothing was added\")", true),
        ("say(\"vauban: \\(error)\")", false),
    ]

    /// Returns the reasons whose detail is a sentence of its own, from the source that says so.
    private static func completeReasons() throws -> Set<String> {
        let source = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Sources/Values/VaubanRefusal/Refusal.swift"))
        let list = try #require(source.firstMatch(of: #/var detailIsComplete: Bool \{\s*switch self \{\s*case ([^:]*):\s*true/#))
        let reasons = Set(list.1.matches(of: #/\.(\w+)/#).map { String($0.1) })
        #expect(reasons.count > 5)
        return reasons
    }
}

/// The words that messages do not contain (CONTRIBUTING.md, "Language").
enum InternalWords {
    private static let all: Set<String> = ["room", "rooms", "wire", "wires", "digest", "digests", "witness", "witnesses"]

    /// Returns whether a literal is a text, and not a key or a name.
    static func isText(_ literal: String) -> Bool { literal.contains(" ") }

    /// Returns the first such word. A path, an option or a name with a hyphen is another word.
    static func first(in text: String) -> String? {
        let words = text.split { !$0.isLetter && !$0.isNumber && !"-_/.".contains($0) }
            // A period after a word ends the sentence.
            .map { $0.last == "." ? $0.dropLast() : $0 }
        return words.first { all.contains($0.lowercased()) }.map(String.init)
    }

    /// Returns whether a line of a source writes to a log.
    static func isOfLog(_ line: Substring) -> Bool { line.contains(#/\b(?:log|boundedLog|logger)\.\w+\(/#) }
}

/// The text of an error that a user may see, where it is written in the sources.
struct ErrorMessage {
    let line: Int
    /// What makes it: a type, or `say` for what a command writes itself.
    let maker: String
    let reason: String?
    /// The literal, with `…` for each interpolation.
    let text: String

    /// Returns what is wrong with it.
    func fault(completeReasons: Set<String>) -> String? {
        if text.hasSuffix(".") { return "an error ends without a period" }
        let isPhrase = ["ParsingError", "SkipReason"].contains(maker) || maker == "Refusal" && !completeReasons.contains(reason ?? "")
        let word = text.prefix { $0.isLetter || $0.isNumber || "-._".contains($0) }
        if isPhrase {
            guard word.wholeMatch(of: #/[A-Z][a-z]*/#) != nil, !Self.names.contains(String(word)) else { return nil }
            return "this follows another sentence and a colon, so it begins in lower case"
        }
        guard word.wholeMatch(of: #/[a-z]+/#) != nil, !Self.names.contains(String(word)) else { return nil }
        return "an error begins with a capital letter, unless a name comes first"
    }

    /// Words that are written as they are wherever they stand. A word with a hyphen, a dot or a capital inside is a name, too.
    private static let names: Set<String> = [
        "vauban", "git", "systemd", "kubectl", "gpg", "etcd", "Vauban", "Apple", "Firefox", "Chrome", "Chromium", "Windows", "Wayland", "X",
    ]

    private static let makers = ["Refusal", "ValidationError", "BusError", "ParsingError", "SkipReason", "say"]

    /// Returns the messages of a source whose text begins with a literal.
    static func all(in source: String) -> [ErrorMessage] {
        var found: [ErrorMessage] = []
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = line
            while let parenthesis = rest.firstIndex(of: "(") {
                rest = rest[rest.index(after: parenthesis)...]
                let before = line[..<parenthesis]
                guard let maker = makers.first(where: before.hasSuffix), !before.contains("//") else { continue }
                // The end of a longer name is another function.
                if let last = before.dropLast(maker.count).last, last.isLetter || last.isNumber || last == "_" { continue }
                if let message = message(of: maker, source[rest.startIndex...], line: index + 1) { found.append(message) }
            }
        }
        return found
    }

    /// Returns the message whose arguments begin here, if its text is a literal.
    private static func message(of maker: String, _ arguments: Substring, line: Int) -> ErrorMessage? {
        var rest = arguments.drop { $0.isWhitespace }
        var reason: String?
        if rest.first == "." {
            let name = rest.dropFirst().prefix { $0.isLetter }
            rest = rest[name.endIndex...]
            guard rest.first == "," else { return nil }
            rest = rest.dropFirst().drop { $0.isWhitespace }
            reason = String(name)
        }
        guard rest.first == "\"" else { return nil }
        var text = LiteralText.read(rest)
        if maker == "say" {
            guard text.hasPrefix("vauban: ") else { return nil }
            text.removeFirst("vauban: ".count)
        }
        return ErrorMessage(line: line, maker: maker, reason: reason, text: text)
    }
}

/// Reads string literals that are joined by `+`, with `…` for interpolations and for whatever else is joined to them.
private enum LiteralText {
    static func read(_ source: Substring) -> String {
        var (rest, text) = (source, "")
        while true {
            literal(&rest, into: &text)
            rest = rest.drop { $0.isWhitespace }
            guard rest.first == "+" else { return text }
            rest = rest.dropFirst().drop { $0.isWhitespace }
            guard rest.first == "\"" else { return text + "…" }
        }
    }

    /// Reads one literal from its quotation mark on.
    private static func literal(_ rest: inout Substring, into text: inout String) {
        let mark = rest.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
        rest = rest.dropFirst(mark.count).drop { mark.count == 3 && $0.isWhitespace }
        var content = ""
        while let character = rest.first, !rest.hasPrefix(mark) {
            rest = rest.dropFirst()
            guard character == "\\" else {
                content.append(character)
                continue
            }
            if rest.first == "(" {
                skipInterpolation(&rest)
                content.append("…")
            } else if rest.first?.isNewline == true {
                // A line of a long literal that continues on the next one.
                rest = rest.drop { $0.isWhitespace }
            } else if let escaped = rest.popFirst() {
                content.append(escaped)
            }
        }
        rest = rest.dropFirst(mark.count)
        while mark.count == 3, content.last?.isWhitespace == true { content.removeLast() }
        text += content
    }

    private static func skipInterpolation(_ rest: inout Substring) {
        var depth = 0
        repeat {
            if rest.first == "\"" {
                var ignored = ""
                literal(&rest, into: &ignored)
                continue
            }
            if rest.first == "(" { depth += 1 }
            if rest.first == ")" { depth -= 1 }
            rest = rest.dropFirst()
        } while depth > 0 && !rest.isEmpty
    }
}
