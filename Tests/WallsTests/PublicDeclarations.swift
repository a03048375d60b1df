/// The names that a module's sources declare for applications, such as `SecItemAdd`, `LAContext.invalidate` or `LAError.Code.userCancel`.
///
/// It reads declarations line by line, which suffices for sources in the layout of `.swift-format`. It knows no `public extension`, which
/// the sources do not use.
struct PublicDeclarations {
    private(set) var names: Set<String> = []

    /// An open brace that belongs to a type or an extension.
    private struct Scope {
        let name: String
        let depth: Int
        let isPublic: Bool
        let isEnum: Bool
    }

    mutating func read(_ source: SwiftText) {
        var scopes: [Scope] = []
        var depth = 0
        for line in source.codeLines {
            read(line, scopes: &scopes, depth: depth)
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            while let scope = scopes.last, depth <= scope.depth { scopes.removeLast() }
        }
    }

    private mutating func read(_ line: String, scopes: inout [Scope], depth: Int) {
        guard let match = line.prefixMatch(of: Self.declaration) else { return }
        let (keyword, name) = (String(match.2), String(match.3))
        let isPublic = match.1.contains("public") || match.1.contains("open")
        let path = (scopes.map(\.name) + [name]).joined(separator: ".")
        switch keyword {
        case "class", "struct", "enum", "protocol", "actor", "extension":
            if isPublic { names.insert(path) }
            guard line.count(where: { $0 == "{" }) > line.count(where: { $0 == "}" }) else { return }
            scopes.append(Scope(name: name, depth: depth, isPublic: isPublic || keyword == "extension", isEnum: keyword == "enum"))
        case "case":
            guard let scope = scopes.last, scope.isEnum, scope.isPublic, depth == scope.depth + 1 else { return }
            for name in line.matches(of: #/(?:\bcase|,)\s*`?(\w+)`?/#) {
                names.insert("\(scopes.map(\.name).joined(separator: ".")).\(name.1)")
            }
        default:
            if isPublic { names.insert(path) }
        }
    }

    // A regular expression is not Sendable, so it is made where it is used.
    private static var declaration: Regex<(Substring, Substring, Substring, Substring)> {
        #/
        \s* (?:@\w+(?:\([^)]*\))?\s*)*
        ((?:(?:public|open|package|internal|private|fileprivate|final|static|class|override|mutating|indirect|nonisolated(?:\(unsafe\))?)
        \s+)*)
        (class|struct|enum|protocol|actor|extension|typealias|let|var|func|case)\b \s* `?([\w.]+)`?
        /#
    }
}
