import Foundation
import Testing

/// The list of Apple's symbols, joined with the declarations in the sources, and the page of the manual that it makes.
struct SymbolTable {
    struct Symbol {
        let module: String
        let group: String
        let name: String
        /// Why the symbol is missing, or after `part: ` what is missing of it.
        let note: String
        let isDeclared: Bool

        var isPartial: Bool { note.hasPrefix("part: ") }
        var reason: String { isPartial ? String(note.dropFirst(6)) : note }
    }

    let symbols: [Symbol]
    /// The names that the sources declare, by Apple's module.
    let declared: [String: Set<String>]

    private static let modules = [
        ("Security", "VaubanSecurity"), ("LocalAuthentication", "VaubanLocalAuthentication"), ("CryptoKit", "VaubanCryptoKit"),
    ]

    init() throws {
        var declared: [String: Set<String>] = [:]
        for (apple, own) in Self.modules {
            var declarations = PublicDeclarations()
            for file in SourceTree.files(in: SourceTree.root.appendingPathComponent("Sources/Callers/\(own)"), withExtension: ["swift"]) {
                declarations.read(SwiftText(try SourceTree.text(of: file)))
            }
            declared[apple] = declarations.names
        }
        self.declared = declared
        symbols = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Specs/apple-symbols.tsv")).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .map { line in
                let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                try #require((3...4).contains(fields.count), "\(line)")
                let isDeclared = declared[fields[0]]?.contains(fields[2]) ?? false
                return Symbol(
                    module: fields[0], group: fields[1], name: fields[2], note: fields.count == 4 ? fields[3] : "", isDeclared: isDeclared)
            }
    }

    /// Manual/apple-symbols.md.
    var page: String {
        let introduction = """
            # Apple's symbols

            Which of the public symbols of Apple's `Security`, `LocalAuthentication` and `CryptoKit` Vauban has. For calls that behave
            differently from Apple's, see [apple-deviations.md](../Specs/apple-deviations.md). `CryptoKit` also exports swift-crypto's
            `Crypto`, which has the rest of Apple's CryptoKit under the same names. The `SecKeychain…`, `SecTransform…`, `SecProtocol…`,
            `SSL…`, `CMS…` and `Authorization…` functions of macOS are missing.

            This page is generated from `Specs/apple-symbols.tsv` and from the sources:
            `VAUBAN_WRITE_SYMBOLS=1 make test ONLY=AppleSymbolTests`.

            """
        return introduction + Self.modules.map { section($0.0) }.joined()
    }

    private func section(_ module: String) -> String {
        let own = symbols.filter { $0.module == module }
        let (partial, missing) = (own.count { $0.isDeclared && $0.isPartial }, own.count { !$0.isDeclared })
        var lines = [
            "", "## \(module)", "",
            "Of \(own.count) symbols, \(own.count - partial - missing) are there, \(partial) in part, and \(missing) are missing.",
        ]
        for group in Self.distinct(own.map(\.group)) {
            let members = own.filter { $0.group == group }
            lines += ["", "### \(group)", "", "| | Symbols | |", "|---|---|---|"]
            lines += Self.rows("there", members.filter { $0.isDeclared && !$0.isPartial })
            lines += Self.rows("in part", members.filter { $0.isDeclared && $0.isPartial })
            lines += Self.rows("missing", members.filter { !$0.isDeclared })
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns one row for each reason, in the order of their first symbols.
    private static func rows(_ state: String, _ symbols: [Symbol]) -> [String] {
        distinct(symbols.map(\.reason)).map { reason in
            let names = symbols.filter { $0.reason == reason }.map { "`\($0.name)`" }
            return "| \(state) (\(names.count)) | \(names.joined(separator: ", ")) | \(reason) |"
        }
    }

    private static func distinct(_ values: [String]) -> [String] {
        var seen: Set<String> = []
        return values.filter { seen.insert($0).inserted }
    }
}
