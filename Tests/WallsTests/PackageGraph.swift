import Foundation
import Synchronization

/// The dependencies in Package.swift, the only place that declares them.
struct PackageGraph {
    struct Target: Hashable {
        let name: String
        let kind: Kind
        let folder: URL
        /// The names of targets and of other packages' products, as in the manifest. Our own products are named after their modules.
        let dependencies: Set<String>
        /// Those that are targets of this package.
        let ownDependencies: Set<String>
    }

    enum Kind: String, Decodable { case regular, executable, test, system, binary, plugin, macro, snippet }

    let targets: [Target]
    /// The names of the executables that each target is linked as, where they are not its own.
    let executables: [String: [String]]

    /// Reads the manifest of this repository with SwiftPM itself, with everything that the environment adds.
    static func read() throws -> PackageGraph { try read(with: Set(variables())) }

    /// Reads it in each environment that it distinguishes: without its variables, with each one alone, and with all.
    static func readEach() throws -> [(variables: [String], graph: PackageGraph)] {
        let all = try variables()
        let environments: [[String]] = [[]] + all.map { [$0] } + [all]
        return try environments.map { ($0, try read(with: Set($0))) }
    }

    /// Returns the environment variables that the manifest reads.
    private static func variables() throws -> [String] {
        let manifest = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Package.swift"))
        return Set(manifest.matches(of: #/Context\.environment\["(\w+)"\]/#).map { String($0.1) }).sorted()
    }

    /// What was read, since each takes SwiftPM a second.
    private static let known = Mutex<[Set<String>: PackageGraph]>([:])

    private static func read(with variables: Set<String>) throws -> PackageGraph {
        try known.withLock { known in
            if let graph = known[variables] { return graph }
            let graph = try evaluate(with: variables)
            known[variables] = graph
            return graph
        }
    }

    private static func evaluate(with variables: Set<String>) throws -> PackageGraph {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("vauban-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // A separate folder, since this runs while the build's folder is in use.
        process.arguments = ["swift", "package", "--package-path", SourceTree.root.path, "--scratch-path", scratch.path, "dump-package"]
        var environment = ProcessInfo.processInfo.environment
        for name in try Self.variables() { environment[name] = variables.contains(name) ? "1" : nil }
        process.environment = environment
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let json = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ManifestError(
                description: "swift package dump-package ended with \(process.terminationStatus), with \(variables.sorted())")
        }
        return try PackageGraph(json: json)
    }

    init(json: Data) throws {
        let manifest = try JSONDecoder().decode(Manifest.self, from: json)
        targets = manifest.targets.map { target in
            Target(
                name: target.name, kind: target.type,
                folder: SourceTree.root.appendingPathComponent(target.path ?? "Sources/\(target.name)"),
                dependencies: Set(target.dependencies.compactMap(\.name)),
                ownDependencies: Set(target.dependencies.filter(\.isOwn).compactMap(\.name)))
        }
        var executables: [String: [String]] = [:]
        for product in manifest.products where product.type.keys.contains("executable") {
            for target in product.targets { executables[target, default: []].append(product.name) }
        }
        self.executables = executables
    }

    /// Returns everything linked with the target, itself included, by the names of the manifest.
    func closure(of name: String) -> Set<String> {
        var reached: Set<String> = []
        var next = [name]
        while let target = next.popLast() {
            guard reached.insert(target).inserted else { continue }
            next += targets.first { $0.name == target }?.dependencies ?? []
        }
        return reached
    }

    struct ManifestError: Error, CustomStringConvertible { let description: String }

    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let type: Kind
            let path: String?
            let dependencies: [Dependency]
        }

        /// The type is an object with one key, such as `executable`.
        struct Product: Decodable {
            let name: String
            let targets: [String]
            let type: [String: Ignored?]
        }

        /// Any value.
        struct Ignored: Decodable {
            init(from decoder: any Decoder) {}
        }

        let targets: [Target]
        let products: [Product]
    }

    /// One of `{"byName": ["Name", null]}`, `{"target": …}` and `{"product": ["Name", "package", …]}`.
    private struct Dependency: Decodable {
        let name: String?
        let isOwn: Bool

        init(from decoder: any Decoder) throws {
            let form = try decoder.singleValueContainer().decode([String: [Word]].self).first
            name = form?.value.first?.text
            isOwn = form?.key != "product"
        }
    }

    /// A string; ignores anything beside the name (conditions, aliases).
    private struct Word: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
    }
}
