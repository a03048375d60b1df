import Foundation
import Testing

/// Manual/apple-symbols.md: which of Apple's symbols Vauban has. It is generated from the list in Specs/apple-symbols.tsv and from what the
/// sources declare.
@Suite struct AppleSymbolTests {
    @Test("The table of Apple's symbols matches the sources") func tableIsCurrent() throws {
        let page = SourceTree.root.appendingPathComponent("Manual/apple-symbols.md")
        let generated = try SymbolTable().page
        if ProcessInfo.processInfo.environment["VAUBAN_WRITE_SYMBOLS"] != nil {
            try generated.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(
            try SourceTree.text(of: page) == generated, "write the page again: VAUBAN_WRITE_SYMBOLS=1 make test ONLY=AppleSymbolTests")
    }

    @Test("Every symbol of Apple's is declared, or its absence has a reason") func absentSymbolsHaveReasons() throws {
        for symbol in try SymbolTable().symbols {
            if symbol.isDeclared {
                #expect(
                    symbol.note.isEmpty || symbol.isPartial, "\(symbol.name) is declared, but Specs/apple-symbols.tsv says: \(symbol.note)")
            } else {
                #expect(
                    !symbol.note.isEmpty && !symbol.isPartial, "\(symbol.name) is not declared, and Specs/apple-symbols.tsv gives no reason"
                )
            }
        }
    }

    @Test("Every public symbol of the three modules is in the list") func declaredSymbolsAreListed() throws {
        let table = try SymbolTable()
        for (module, declared) in table.declared {
            let listed = Set(table.symbols.filter { $0.module == module }.map(\.name))
            let unlisted = declared.filter { name in
                let last = name.split(separator: ".").last.map(String.init) ?? name
                return !listed.contains(name) && !last.hasPrefix("_") && !Self.inherited.contains(last)
            }
            #expect(unlisted.isEmpty, "add to Specs/apple-symbols.tsv: \(unlisted.sorted().joined(separator: ", "))")
            #expect(declared.count > 30, "too few declarations of \(module) were found for this to mean anything")
        }
    }

    /// Members that every object or raw value has.
    private static let inherited: Set<String> = ["hash", "hashValue", "isEqual", "description", "copy", "rawValue", "boolValue"]
}
