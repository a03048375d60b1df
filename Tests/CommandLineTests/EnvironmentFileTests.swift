import Foundation
import Testing
import VaubanCommands
import VaubanRefusal

/// The files of `vauban run --env-file`.
@Suite struct EnvironmentFileTests {
    @Test("Lines are NAME=value, with comments, quotation marks and items")
    func linesAreVariables() throws {
        let file = try read(
            "# A comment\n\nPLAIN=as it is\nQUOTED=\"vauban://mail%20box/anna\"\nexport SINGLE='two words'\nEMPTY=\n"
                + "ASKED=vauban://other/bert\r\n"
        )
        #expect(file.variables.map(\.name) == ["PLAIN", "QUOTED", "SINGLE", "EMPTY", "ASKED"])
        #expect(
            file.variables.map(\.value) == [
                .plain("as it is"), .item("mail box/anna"), .plain("two words"), .plain(""), .item("other/bert"),
            ])
    }

    @Test(
        "A comment after a value begins with a space",
        arguments: [
            ("localhost # dev", "localhost"), ("a#b", "a#b"), ("#fff", "#fff"), (" # nothing", ""), ("\"x # y\" # z", "x # y"),
            ("\"x\" # \"y\"", "x"), ("'it\"s'", "it\"s"), ("\"a\"b\"", "a\"b"),
        ])
    func commentsFollowValues(text: String, value: String) throws {
        #expect(try read("A=\(text)\n").variables.map(\.value) == [.plain(value)])
    }

    @Test(
        "A line that is not a variable is refused by its number",
        arguments: ["no sign", "1A=b", "A=\"open", "A=\"b\" c", "A=vauban://", "=b", "A-B=c"])
    func wrongLinesAreNamed(line: String) throws {
        let refusal = try #require(throws: Refusal.self) { _ = try read("FINE=1\n\(line)\n") }
        #expect(refusal.reason == .badParameter)
        #expect(refusal.detail?.contains(", line 2: ") == true)
    }

    @Test("Variable names are those of a shell", arguments: [("A", true), ("_a1", true), ("1A", false), ("A-B", false), ("", false)])
    func namesAreThoseOfAShell(name: String, isOne: Bool) {
        #expect(VariableName.isOne(name) == isOne)
    }

    private func read(_ text: String) throws -> EnvironmentFile {
        let path = NSTemporaryDirectory() + "vauban-environment-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try EnvironmentFile(path)
    }
}
