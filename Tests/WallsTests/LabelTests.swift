import Testing

/// Arguments have labels (Swift's API Design Guidelines): at a call nobody can tell three values without a label apart.
@Suite struct LabelTests {
    /// Functions that may have more, by file. The list only shrinks.
    private static let exceptions: [String: Set<String>] = [
        // Tables, of which each row is a call.
        "Sources/Callers/VaubanSecurity/Status/KnownStatus.swift": ["init"],
        "Sources/Values/VaubanKeychainModel/AttributeRule.swift": ["init"],
        "Tests/EnclaveTests/Situation.swift": ["init"],
        "Tests/ValuesTests/AttributeTests.swift": ["init"],
        // Service, account and value, in hundreds of calls.
        "Tests/RoomsTests/Rooms.swift": ["add"],
    ]

    @Test("No function or initializer has more than two parameters without a label") func parametersHaveLabels() throws {
        var unused = Self.exceptions
        for file in SourceTree.ownSwiftFiles() {
            let name = SourceTree.name(of: file)
            for declaration in UnlabelledParameters.declarations(in: try SourceTree.text(of: file)) where declaration.count > 2 {
                if Self.exceptions[name]?.contains(declaration.name) == true {
                    unused[name]?.remove(declaration.name)
                } else if !Self.isApples(declaration.name, in: name) {
                    Issue.record("\(name):\(declaration.line): \(declaration.name) has \(declaration.count) parameters without a label")
                }
            }
        }
        for (name, functions) in unused where !functions.isEmpty {
            Issue.record("\(name): \(functions.sorted().joined(separator: ", ")) is no exception any more; take it from the list")
        }
    }

    /// Whether a function is one of Apple's C functions, whose arguments have no labels.
    private static func isApples(_ function: String, in name: String) -> Bool {
        name.hasPrefix("Sources/Callers/VaubanSecurity/") && (function.hasPrefix("Sec") || function.hasPrefix("CF"))
    }

    @Test("Parameters without a label are counted") func counting() {
        let source = """
            func one(_ a: Int, b: [String: Int], _ c: (Int, Int) -> Void) {}
            static func two<Value: Sendable>(
                _ a: inout Result<Int, Error>, _ b: @escaping (Int, Int) -> Void = { _, _ in }, to c: Int, _ d: @autoclosure () -> Int
            ) {}
            init?(_ a: Int, _ b: Int, _ c: Int) { self.init(a, b, c) }
            // func three(_ a: Int, _ b: Int, _ c: Int)
            static func == (_ a: Int, _ b: Int) -> Bool {}
            let made = Thing.init(1, 2, 3)
            """
        let found = UnlabelledParameters.declarations(in: source).map { "\($0.line) \($0.name) \($0.count)" }
        #expect(found == ["1 one 2", "2 two 3", "5 init 3", "7 == 2"])
    }
}

/// How many parameters without a label each function and initializer of a source has.
enum UnlabelledParameters {
    struct Declaration {
        let name: String
        let line: Int
        let count: Int
    }

    static func declarations(in source: String) -> [Declaration] {
        let code = SwiftText(source).codeLines
        let beginning = #/(?:^|[\s{;])(?:func\s+([^\s(<]+|[^\w\s(]+)|init[?!]?)\s*(?=[<(])/#
        let unlabelled = #/^\s*(?:@\w+(?:\([^)]*\))?\s+)*_\s+\w+\s*:/#
        var found: [Declaration] = []
        for (index, line) in code.enumerated() where line.contains("func ") || line.contains("init") {
            for match in line.matches(of: beginning) {
                let following = [line[match.range.upperBound...]] + code[(index + 1)...].map { $0[...] }
                let count = parameters(in: following).count { $0.contains(unlabelled) }
                found.append(Declaration(name: match.1.map(String.init) ?? "init", line: index + 1, count: count))
            }
        }
        return found
    }

    /// Returns the parameters of the list with which these lines begin, perhaps after generic parameters.
    private static func parameters(in lines: [Substring]) -> [String] {
        var (parts, brackets, before): ([String], [Character], Character) = ([""], [], " ")
        for character in lines.lazy.joined(separator: "\n") {
            defer { before = character }
            switch character {
            case ">" where before == "-": break
            case "(", "[", "{", "<": brackets.append(character)
            case ")", "]", "}", ">":
                if brackets.popLast() == "(", brackets.isEmpty { return parts }
                if brackets.isEmpty {
                    parts = [""]
                    continue
                }
            case "," where brackets == ["("]:
                parts.append("")
                continue
            default: break
            }
            if brackets != ["("] || character != "(" { parts[parts.count - 1].append(character) }
        }
        return []
    }
}
