import ArgumentParser
import Testing
import VaubanCommands
import VaubanSecretBytes

/// References to items in texts, and the templates of `vauban inject`.
@Suite struct SecretTemplateTests {
    @Test(
        "A reference names the item that its name does, with spaces encoded or not",
        arguments: [
            ("vauban://db/anna", "db/anna"), ("vauban://mail%20box/anna", "mail box/anna"), ("vauban://a%25b", "a%b"), ("db/anna", nil),
            ("see vauban://db/anna", nil), ("", nil),
        ] as [(String, String?)])
    func referencesNameItems(text: String, name: String?) throws {
        #expect(try ItemReference.name(in: text) == name)
    }

    @Test("A reference without an item is refused", arguments: ["vauban://", "vauban://db/%zz"])
    func referencesWithoutItemsAreRefused(text: String) {
        #expect(throws: ParsingError.self) { try ItemReference.name(in: text) }
    }

    @Test("A reference selects the same item as its name") func referencesSelect() throws {
        let selection = try ItemSelection.parse(["vauban://mail%20box/anna"])
        #expect(selection.nameAndAccount.name == "mail box")
        #expect(selection.nameAndAccount.account == "anna")
        #expect(selection.shown == "mail box/anna")
        #expect(throws: (any Error).self) { try ItemSelection.parse(["vauban://"]) }
    }

    @Test("A template has its references as parts, and every other byte as it is") func templatesHaveParts() throws {
        #expect(try parts("a{{ vauban://b/c }}d") == [.text(0..<1), .item("b/c"), .text(19..<20)])
        #expect(try parts("{{vauban://b/c}}{{\tvauban://d }}") == [.item("b/c"), .item("d")])
        #expect(try parts("{{{vauban://b}}}") == [.text(0..<1), .item("b"), .text(15..<16)])
        #expect(try parts("{{ .Values.x }} { } }}") == [.text(0..<22)])
        #expect(try parts("").isEmpty)
    }

    @Test(
        "A wrong reference is refused by its line",
        arguments: ["{{ vauban:// }}", "{{ vauban://a", "{{ vauban://a }", "{{ vauban://a\n}}", "{{ vauban://%zz }}"])
    func wrongReferencesAreNamed(text: String) throws {
        let fault = try #require(throws: ParsingError.self) { _ = try parts("fine {{ vauban://a }}\n\(text)") }
        #expect(fault.why.hasPrefix("line 2: "))
    }

    @Test(
        "References that are not replaced are found by their line, in braces or outside of them",
        arguments: [
            ("a\n{{- vauban://b -}}", .init(inBraces: 2)), ("{{ 'vauban://b' }}", .init(inBraces: 1)),
            ("{{\nvauban://b }}", .init(inBraces: 2)), ("{{ Vauban://b }}", .init(inBraces: 1)), ("\n\npw=vauban://b", .init(bare: 3)),
            ("{{ .x }} vauban://b", .init(bare: 1)), ("{{ vauban://b }} {{ op://c }}", .init()), ("{{{vauban://b}}} vauban:", .init()),
            ("{{\\bf x} y}\n\n# vauban://b", .init(bare: 3)), ("{{/* see vauban://b */}}", .init(bare: 1)),
            ("{{! vauban://b }}", .init(bare: 1)), ("{{ vauban:/b }} {{\nvauban://c", .init(bare: 2)),
        ] as [(String, SecretTemplate.Strays)])
    func straysAreFound(text: String, strays: SecretTemplate.Strays) throws {
        let template = SecretBytes(copying: Array(text.utf8))
        #expect(SecretTemplate.strays(in: template, parts: try SecretTemplate.parts(of: template)) == strays)
    }

    private func parts(_ text: String) throws -> [SecretTemplate.Part] {
        try SecretTemplate.parts(of: SecretBytes(copying: Array(text.utf8)))
    }
}
