import Foundation
import TestSupport
import Testing

/// Rooms are apart because their sources cannot name each other; this is where that is checked, on every import of every file.
@Suite struct WallsTests {
    @Test func everyTargetHasAnEntry() throws {
        for target in try SourceTree.targets() {
            #expect(allowedImports[target.name] != nil, "\(SourceTree.name(of: target.folder)) has no entry in AllowedImports.swift")
        }
    }

    @Test func everyImportIsAllowed() throws {
        for target in try SourceTree.targets() {
            let allowed = allowedImports[target.name] ?? []
            for file in SourceTree.files(in: target.folder, withExtension: ["swift"]) {
                let surplus = try SwiftText(SourceTree.text(of: file)).imports.subtracting(allowed).sorted()
                #expect(
                    surplus.isEmpty,
                    "\(SourceTree.name(of: file)) imports \(surplus.joined(separator: ", ")): not allowed in \(target.name)")
            }
        }
    }

    @Test func forbiddenModulesAreOutOfReach() throws {
        let graph = try ImportGraph(SourceTree.targets())
        for forbidden in forbiddenReaches where graph.holds(forbidden.target) {
            for path in graph.paths(from: forbidden.target) where forbidden.forbids(path.last ?? "") {
                Issue.record("\(forbidden.target) reaches what it must not: \(path.joined(separator: " → "))")
            }
        }
    }

    /// A product that links something from Testing would ship a simulator.
    @Test func noSourceOutsideTestingImportsFromTesting() throws {
        let targets = try SourceTree.targets()
        let inTesting = { (target: SourceTree.Target) in target.folder.deletingLastPathComponent().lastPathComponent == "Testing" }
        let names = Set(targets.filter(inTesting).map(\.name))
        let graph = try ImportGraph(targets)
        for target in targets where !inTesting(target) {
            let reached = names.intersection(graph.imports(of: target.name)).sorted()
            #expect(reached.isEmpty, "\(target.name) imports \(reached.joined(separator: ", ")) from Testing")
        }
    }
}

/// Who imports whom. C shims stand in it with the system headers that they include, written as `<name.h>`.
struct ImportGraph {
    private let edges: [String: Set<String>]

    init(_ targets: [SourceTree.Target]) throws {
        var edges: [String: Set<String>] = [:]
        for target in targets {
            var imports: Set<String> = []
            for file in SourceTree.files(in: target.folder, withExtension: ["swift"]) {
                try imports.formUnion(SwiftText(SourceTree.text(of: file)).imports)
            }
            for file in SourceTree.files(in: target.folder, withExtension: ["c", "h", "modulemap"]) {
                try imports.formUnion(Self.systemHeaders(in: SourceTree.text(of: file)))
            }
            edges[target.name] = imports
        }
        self.edges = edges
    }

    init(edges: [String: Set<String>]) { self.edges = edges }

    func holds(_ target: String) -> Bool { edges[target] != nil }

    func imports(of target: String) -> Set<String> { edges[target] ?? [] }

    /// For everything in reach of the target, one of the shortest ways to it, so that a failure shows where to cut.
    func paths(from target: String) -> [[String]] {
        var found = [[target]]
        var seen: Set<String> = [target]
        var next = 0
        while next < found.count {
            let path = found[next]
            next += 1
            for name in imports(of: path[path.count - 1]).sorted() where seen.insert(name).inserted { found.append(path + [name]) }
        }
        return Array(found.dropFirst())
    }

    static func systemHeaders(in text: String) -> Set<String> {
        var headers: Set<String> = []
        for line in text.split(separator: "\n") {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            guard trimmed.hasPrefix("#"), let start = trimmed.firstIndex(of: "<"), let end = trimmed.firstIndex(of: ">"), start < end,
                trimmed.dropFirst().trimmingCharacters(in: .whitespaces).hasPrefix("include")
            else { continue }
            headers.insert(String(trimmed[start...end]))
        }
        return headers
    }
}
