import Foundation
import TestSupport
import Testing

/// Rooms are apart because their sources cannot name each other; this is where that is checked, on every import of every file.
@Suite struct WallsTests {
    /// Swift's own modules and the C library: no room is crossed by using them. On Apple's systems Darwin is that library.
    private static let platform: Set<String> = ["Swift", "Foundation", "Glibc", "Synchronization", "Dispatch", "Darwin"]

    /// What the one target with Apple's names lets its dependents import (Specs/module-names.md).
    private static let appleNames: Set<String> = ["Security", "LocalAuthentication", "CryptoKit"]

    /// Sources that SwiftPM does not build here: what Apple's systems have, and the login's module, which scripts/build compiles.
    private static let outsideTheManifest: Set<String> = ["VaubanOnApple", "pam_vauban"]

    @Test func everyFolderOfSourcesIsATarget() throws {
        let known = Set(try PackageGraph.read().targets.map(\.name)).union(Self.outsideTheManifest)
        for target in try SourceTree.targets() {
            #expect(known.contains(target.name), "\(SourceTree.name(of: target.folder)) is no target of Package.swift")
        }
    }

    /// What SwiftPM itself does not check: a module that another target's dependency brings can be imported all the same.
    @Test("a target imports what Package.swift names for it, and all of that")
    func importsAreThoseOfTheManifest() throws {
        for target in try PackageGraph.read().targets where [.regular, .executable, .test].contains(target.kind) {
            var declared = target.dependencies
            if declared.remove("VaubanAppleNames") != nil {
                // Apple's names re-export these, so an import of either is one of them.
                declared.formUnion(Self.appleNames)
            }
            let tests: Set<String> = target.kind == .test || target.name == "TestSupport" ? ["Testing"] : []
            let allowed = declared.union(Self.platform).union(tests)
            var imported: Set<String> = []
            let files = SourceTree.files(in: target.folder, withExtension: ["swift"])
            for file in files {
                let imports = try SwiftText(SourceTree.text(of: file)).imports
                imported.formUnion(imports)
                let surplus = imports.subtracting(allowed).sorted().joined(separator: ", ")
                #expect(
                    surplus.isEmpty, "\(SourceTree.name(of: file)) imports \(surplus), which Package.swift does not name for \(target.name)"
                )
            }
            // A C target's headers are not read for this.
            guard !files.isEmpty else { continue }
            let unused = target.dependencies.subtracting(imported).subtracting(Self.broughtTogether).sorted().joined(separator: ", ")
            #expect(unused.isEmpty, "Package.swift names \(unused) for \(target.name), which imports none of it")
        }
    }

    /// Dependencies that come as a set: Apple's names with the modules beneath, and what every test target has.
    private static let broughtTogether: Set<String> = [
        "VaubanSecurity", "VaubanLocalAuthentication", "VaubanCryptoKit", "VaubanAppleNames", "TestSupport",
    ]

    /// scripts/build-sdk links what VaubanKeychain needs into one library; it names the folders of objects.
    @Test func theModulesOfTheSDKAreWhatItsLibraryNeeds() throws {
        let graph = try PackageGraph.read()
        let script = try SourceTree.text(of: SourceTree.root.appendingPathComponent("scripts/build-sdk"))
        let loops = script.matches(of: /for module in ([^;]*);/).map {
            Set($0.1.split(whereSeparator: { $0.isWhitespace || $0 == "\\" }).map(String.init))
        }
        let compiled = try #require(loops.first { $0.isSuperset(of: ["VaubanKeychain", "VaubanSecurity"]) })
        let linked = try #require(loops.first { $0.contains("VaubanKeychainClient") })
        // Apple's names lie there as interfaces (Specs/module-names.md).
        let needed = compiled.reduce(into: compiled) { $0.formUnion(graph.closure(of: $1)) }.subtracting(["VaubanAppleNames"])
        let ours = Set(graph.targets.map(\.name))
        #expect(linked.intersection(ours).union(compiled) == needed.intersection(ours))
        #expect(needed.subtracting(ours).isSubset(of: linked))
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
