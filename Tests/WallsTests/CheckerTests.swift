import Foundation
import TestSupport
import Testing

/// The checkers themselves: each must be known to find violations.
@Suite struct CheckerTests {
    @Test("Imports of every form are found") func importsAreSeen() {
        for (source, modules) in Self.importSamples {
            #expect(SwiftText(source).imports == Set(modules), "in: \(source)")
        }
    }

    @Test("Code inside interpolations stays code") func codeInsideInterpolationsStays() {
        let text = SwiftText(#"let a = "x \(f("y", try! g())) z" // end"#)
        #expect(text.codeLines == [#"let a = "(f("", try! g()))" "#])
    }

    @Test("Wide lines of a document are found, but for tables and code") func wideLinesAreFound() {
        let wide = String(repeating: "a ", count: 90)
        let text = ["# \(wide)", wide, "| \(wide) |", "```", wide, "```", "  \(wide)", String(repeating: "a", count: 160)]
        #expect(HouseRules.wideLines(inDocument: text.joined(separator: "\n")) == [2, 7])
    }

    @Test("Dependencies of every form are read") func dependenciesOfEveryFormAreRead() throws {
        let graph = try PackageGraph(
            json: Data(
                """
                {"targets": [
                    {"name": "A", "type": "regular", "path": "Sources/A", "settings": [],
                     "dependencies": [{"byName": ["B", null]}, {"product": ["C", "package-c", null, {"platformNames": ["linux"]}]}]},
                    {"name": "B", "type": "executable", "dependencies": [{"target": ["D", null]}]}
                 ],
                 "products": [
                    {"name": "a", "targets": ["A"], "type": {"library": ["automatic"]}},
                    {"name": "b", "targets": ["B"], "type": {"executable": null}}
                 ]}
                """.utf8))
        #expect(graph.targets.map(\.dependencies) == [["B", "C"], ["D"]])
        #expect(graph.targets.map(\.ownDependencies) == [["B"], ["D"]])
        #expect(graph.closure(of: "A") == ["A", "B", "C", "D"])
        #expect(graph.executables == ["B": ["b"]])
    }

    @Test("Reach is transitive, and the path is shown") func reachIsTransitiveAndShowsThePath() {
        let graph = ImportGraph(edges: ["enclaved": ["Enclave"], "Enclave": ["CShim", "Crypto"], "CShim": ["<sqlite3.h>"]])
        #expect(graph.paths(from: "enclaved").contains(["enclaved", "Enclave", "CShim", "<sqlite3.h>"]))
    }

    @Test(
        "A module that enclaved must not reach is forbidden",
        arguments: ["GRDB", "SwiftCSV", "CSystemd", "FoundationNetworking", "NIOCore", "NIOPosix", "<sqlite3.h>", "<systemd/sd-bus.h>"])
    func enclavedMustNotReach(_ name: String) {
        #expect(forbiddenReaches.contains { $0.target == "enclaved" && $0.forbids(name) })
    }

    @Test("A module that enclaved needs is not forbidden", arguments: ["Crypto", "SwiftASN1", "VaubanLinuxHost", "<sys/socket.h>"])
    func enclavedReachesOnlyItsAllowedModules(_ name: String) {
        #expect(!forbiddenReaches.contains { $0.target == "enclaved" && $0.forbids(name) })
    }

    @Test("System headers are found") func systemHeadersAreSeen() {
        #expect(ImportGraph.systemHeaders(in: "#include <a/b.h>\n # include <c.h>\n#include \"own.h\"\n// <d.h>") == ["<a/b.h>", "<c.h>"])
    }

    @Test("The house rules find violations, and nothing else") func houseRulesFindViolations() {
        for (source, count) in Self.ruleSamples {
            #expect(HouseRules.violations(in: source, isTest: true).count == count, "in: \(source.prefix(80))")
        }
    }

    private static let importSamples: [(source: String, modules: [String])] = [
        ("import Foundation", ["Foundation"]),
        ("@_exported import Foundation", ["Foundation"]),
        ("@preconcurrency import GRDB", ["GRDB"]),
        ("@_spi(Testing) @preconcurrency public import Crypto", ["Crypto"]),
        ("package import Glibc; internal import SwiftASN1", ["Glibc", "SwiftASN1"]),
        ("private import struct Foundation.Data", ["Foundation"]),
        ("@preconcurrency\nimport Dispatch", ["Dispatch"]),
        ("#if canImport(GRDB)\nimport GRDB\n#endif", ["GRDB"]),
        ("  import  class  NIOCore.Channel // why", ["NIOCore"]),
        ("/* a /* nested */ comment */ import Logging", ["Logging"]),
        ("// import Hidden\n/* import Hidden\n import Hidden */", []),
        ("let text = \"\"\"\nimport Hidden\n\"\"\"", []),
        ("let text = #\"a \" quote\"#\nimport Seen", ["Seen"]),
        ("let important = 1\nlet importName = important", []),
    ]

    private static let ruleSamples: [(source: String, count: Int)] = [
        ("let a = try! f()", 1),
        ("// try! in prose", 0),
        ("fatalError(\"unimplemented: f\")", 1),
        // Split, because this file must follow the rule too.
        ("// TO" + "DO: later", 1),
        ("let template = \"name.XXXXXX\"", 0),
        ("Thread.sleep(forTimeInterval: 1)", 1),
        ("@Test func f() {}", 1),
        ("@Test(.proves(\"C-001\")) func f() {}", 1),
        ("@Test(\"A b is c\") func f() {}", 0),
        ("@Test(\n    \"A b is c\", arguments: [1])\nfunc f() {}", 0),
        ("final class A: @unchecked Sendable {}", 1),
        ("// Guarded by its lock.\nfinal class A: @unchecked Sendable {}", 0),
        ("// Guarded by its lock.\n@available(*, deprecated)\nfinal class A: @unchecked Sendable {}", 0),
        (String(repeating: "\n", count: 400), 0),
        (String(repeating: "\n", count: 401), 1),
        ("// The API of Security." + String(repeating: "\n", count: 401), 0),
    ]
}
