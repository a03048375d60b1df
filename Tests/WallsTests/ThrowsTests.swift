import Foundation
import Testing

/// The documentation of public functions says which errors they throw, and when.
@Suite struct ThrowsTests {
    @Test("Every public function of the products that throws says what it throws") func publicFunctionsSayWhatTheyThrow() throws {
        var count = 0
        for target in try SourceTree.targets() where try Self.products().contains(target.name) {
            for file in SourceTree.files(in: target.folder, withExtension: ["swift"]) {
                for function in ThrowingFunctions.all(in: try SourceTree.text(of: file)) {
                    count += 1
                    if !function.saysWhatItThrows {
                        Issue.record("\(SourceTree.name(of: file)):\(function.line): the documentation lacks a line “- Throws: …”")
                    }
                }
            }
        }
        #expect(count > 50, "too few functions were found for this to mean anything")
    }

    /// Returns the modules of the libraries that Package.swift offers to other packages.
    private static func products() throws -> Set<String> {
        let manifest = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Package.swift"))
        let names = manifest.matches(of: #/\.library\(name: "\w+", targets: \[([^\]]*)\]/#).flatMap { library in
            library.1.matches(of: #/"(\w+)"/#).map { String($0.1) }
        }
        #expect(names.contains("VaubanSecurity"))
        return Set(names)
    }

    @Test("Functions that throw are found, and their documentation") func finding() {
        let source = """
            /// One.
            /// - Throws: An error.
            @discardableResult
            public func one(_ body: () throws -> Int) async throws(SystemError) -> Int { 1 }
            /// Two.
            open class func two<Value>(
                _ a: Int, b: [String: Int] = [:]
            ) async throws -> Value {
            /// Three calls what may throw, and throws nothing.
            public func three(_ body: () throws -> Int) -> Int { try one() }
            func four() throws {}
            public protocol Five {
                func five() throws
            }
            public var six: Int { get throws { 6 } }
            public init(seven: Int) throws { try four() }
            """
        let found = ThrowingFunctions.all(in: source).map { "\($0.line) \($0.saysWhatItThrows)" }
        #expect(found == ["4 true", "6 false", "13 false", "15 false", "16 false"])
    }
}

/// The public functions, initializers and properties of a source that throw: those declared public or open, and those of a public protocol.
enum ThrowingFunctions {
    struct Function {
        let line: Int
        let saysWhatItThrows: Bool
    }

    static func all(in source: String) -> [Function] {
        let code = SwiftText(source).codeLines
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let declaration = #/\s*(?:@\w+(?:\([^)]*\))?\s+)*((?:[a-z]+\s+)*)(?:func\s|init[?(<]|var\s)/#
        var found: [Function] = []
        var isInProtocol = false
        for (index, line) in code.enumerated() {
            if line.hasPrefix("public protocol ") { isInProtocol = true }
            if line.hasPrefix("}") { isInProtocol = false }
            guard let match = line.prefixMatch(of: declaration) else { continue }
            let words = match.1.split(separator: " ")
            guard isInProtocol || words.contains("public") || words.contains("open"), throwsErrors(code[index...]) else { continue }
            var above = index - 1
            var says = false
            while above >= 0 {
                let text = lines[above].drop { $0 == " " }
                guard text.hasPrefix("///") || text.hasPrefix("@") else { break }
                if text.hasPrefix("/// - Throws: ") { says = true }
                above -= 1
            }
            found.append(Function(line: index + 1, saysWhatItThrows: says))
        }
        return found
    }

    /// Returns whether the declaration with which these lines begin has `throws` after its parameters.
    private static func throwsErrors(_ lines: ArraySlice<String>) -> Bool {
        var (head, depth) = ("", 0)
        for (index, line) in lines.enumerated() {
            for character in line {
                if character == "{", depth == 0 { return head.contains(#/\bthrows\b/#) || getter(lines[(lines.startIndex + index)...]) }
                if character == ")" || character == "]" { depth -= 1 }
                if depth == 0 { head.append(character) }
                if character == "(" || character == "[" { depth += 1 }
            }
            head.append(" ")
            // The requirement of a protocol has no body.
            if depth == 0, index < lines.count - 1, !continues(lines[lines.startIndex + index + 1]) { return head.contains(#/\bthrows\b/#) }
        }
        return false
    }

    private static func getter(_ lines: ArraySlice<String>) -> Bool {
        lines.prefix(2).joined(separator: " ").contains(#/\{\s*get (?:async )?throws\b/#)
    }

    private static func continues(_ line: String) -> Bool { line.contains(#/^\s*(?:async|throws|->|where|\{|\))/#) }
}
