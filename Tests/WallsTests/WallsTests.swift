import Foundation
import TestSupport
import Testing

/// Rooms are separate because their sources cannot name each other; this checks every import of every file.
@Suite struct WallsTests {
    /// Swift's own modules and the C library, which every target may use. On Apple's systems Darwin is that library.
    private static let platform: Set<String> = [
        "Swift", "Foundation", "FoundationEssentials", "Glibc", "Synchronization", "Dispatch", "Darwin",
    ]

    /// What applications, and the tests of what they use with it, may use as well, and nothing else of this package.
    private static let network: Set<String> = ["FoundationNetworking"]

    /// The modules that the target with Apple's names makes importable (Specs/module-names.md).
    private static let appleNames: Set<String> = ["Security", "LocalAuthentication", "CryptoKit"]

    /// Sources that SwiftPM does not build here: the product for Apple's systems, and what scripts/build compiles, the PAM module and
    /// vauban-protect.
    private static let outsideTheManifest: Set<String> = ["VaubanOnApple", "pam_vauban", "vauban-protect"]

    @Test("Every folder of sources is a target") func everyFolderOfSourcesIsATarget() throws {
        let known = Set(try PackageGraph.read().targets.map(\.name)).union(Self.outsideTheManifest)
        for target in try SourceTree.targets() {
            #expect(known.contains(target.name), "\(SourceTree.name(of: target.folder)) is no target of Package.swift")
        }
    }

    @Test("With each environment variable that Package.swift reads, and without any, its targets depend only on targets that it has")
    func eachEnvironmentIsComplete() throws {
        let graphs = try PackageGraph.readEach()
        #expect(graphs.contains { $0.variables == ["VAUBAN_GTK"] } && graphs.contains { $0.variables == ["VAUBAN_TRANSPORT"] })
        for (variables, graph) in graphs {
            let names = Set(graph.targets.map(\.name))
            #expect(names.count == graph.targets.count, "with \(variables), a target has the name of another")
            for target in graph.targets {
                let missing = target.ownDependencies.subtracting(names).sorted().joined(separator: ", ")
                #expect(missing.isEmpty, "with \(variables), \(target.name) depends on \(missing), which is no target")
            }
        }
    }

    /// SwiftPM itself does not check this: a module from another target's dependencies can be imported too. A target may differ between
    /// environments.
    @Test("A target imports exactly what Package.swift declares, in each environment")
    func importsAreThoseOfTheManifest() throws {
        let targets = Set(try PackageGraph.readEach().flatMap { $0.graph.targets })
        for target in targets where [.regular, .executable, .test].contains(target.kind) {
            var declared = target.dependencies
            if declared.remove("VaubanAppleNames") != nil {
                // Apple's names re-export these, so an import of either is one of them.
                declared.formUnion(Self.appleNames)
            }
            let tests: Set<String> = target.kind == .test || target.name == "TestSupport" ? ["Testing"] : []
            let isExample = SourceTree.name(of: target.folder).hasPrefix("Examples/")
            let allowed = declared.union(Self.platform).union(tests).union(isExample || target.name == "TransportTests" ? Self.network : [])
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
            // Does not read the headers of C targets.
            guard !files.isEmpty else { continue }
            let unused = target.dependencies.subtracting(imported).subtracting(Self.broughtTogether).sorted().joined(separator: ", ")
            #expect(unused.isEmpty, "Package.swift names \(unused) for \(target.name), which imports none of it")
        }
    }

    /// Dependencies that come as a set: Apple's names with the modules beneath, and those of every test target.
    private static let broughtTogether: Set<String> = [
        "VaubanSecurity", "VaubanLocalAuthentication", "VaubanCryptoKit", "VaubanAppleNames", "TestSupport",
    ]

    /// scripts/build-sdk links what VaubanKeychain needs into one library; it names the folders of objects.
    @Test("The SDK's library has the modules that VaubanKeychain needs") func modulesOfTheSDKAreThoseOfItsLibrary() throws {
        let graph = try PackageGraph.read()
        let script = try SourceTree.text(of: SourceTree.root.appendingPathComponent("scripts/build-sdk"))
        let loops = script.matches(of: /for module in ([^;]*);/).map {
            Set($0.1.split(whereSeparator: { $0.isWhitespace || $0 == "\\" }).map(String.init))
        }
        let compiled = try #require(loops.first { $0.isSuperset(of: ["VaubanKeychain", "VaubanSecurity"]) })
        let linked = try #require(loops.first { $0.contains("VaubanKeychainClient") })
        // Apple's names are there as interfaces (Specs/module-names.md).
        let needed = compiled.reduce(into: compiled) { $0.formUnion(graph.closure(of: $1)) }.subtracting(["VaubanAppleNames"])
        let ours = Set(graph.targets.map(\.name))
        #expect(linked.intersection(ours).union(compiled) == needed.intersection(ours))
        #expect(needed.subtracting(ours).isSubset(of: linked))
    }

    @Test("Forbidden modules are out of reach") func forbiddenModulesAreOutOfReach() throws {
        let graph = try ImportGraph(SourceTree.targets())
        for forbidden in forbiddenReaches + withoutFoundation where graph.holds(forbidden.target) {
            for path in graph.paths(from: forbidden.target) where forbidden.forbids(path.last ?? "") {
                Issue.record("\(forbidden.target) reaches what it must not: \(path.joined(separator: " → "))")
            }
        }
    }

    /// A product that links something from Testing would ship a simulator.
    @Test("No source outside Testing imports from Testing") func noSourceOutsideTestingImportsFromTesting() throws {
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

/// The imports of all targets. C modules are included with the system headers that they include, written as `<name.h>`.
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

    /// Returns for everything in reach of the target one of the shortest paths to it, so that a failure shows where to cut.
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
