import Foundation
import TestSupport
import Testing

/// The house rules that a machine can check. Each failure names the file and the line, and what to do instead.
@Suite struct StyleTests {
    @Test("Every Swift file follows the house rules") func everyFileFollowsTheHouseRules() throws {
        let files = SourceTree.ownSwiftFiles()
        #expect(files.contains { SourceTree.name(of: $0) == "Package.swift" })
        for file in files {
            let name = SourceTree.name(of: file)
            for violation in try HouseRules.violations(in: SourceTree.text(of: file), isTest: name.hasPrefix("Tests/")) {
                Issue.record("\(name):\(violation)")
            }
        }
    }

    /// Tables and code cannot be wrapped.
    @Test("No line of a document's text is too wide to be read beside another one") func documentsAreWrapped() throws {
        let files = SourceTree.files(in: SourceTree.root, withExtension: ["md"])
        #expect(files.count > 50)
        for file in files {
            for line in HouseRules.wideLines(inDocument: try SourceTree.text(of: file)) {
                Issue.record("\(SourceTree.name(of: file)):\(line): more than \(HouseRules.documentColumnsMax) columns")
            }
        }
    }
}

enum HouseRules {
    static let documentColumnsMax = 160

    /// Returns the numbers of the lines of Markdown that are too wide and could be wrapped.
    static func wideLines(inDocument text: String) -> [Int] {
        var isCode = false
        var found: [Int] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " }
            if start.hasPrefix("```") { isCode.toggle() }
            if !isCode, !start.hasPrefix("|"), !start.hasPrefix("#"), line.count > documentColumnsMax { found.append(index + 1) }
        }
        return found
    }

    static let linesMax = 400
    /// The limit of `.swift-format`, which cannot break a comment or a string.
    static let columnsMax = 140

    /// Returns each violation as `LINE: what is wrong`.
    static func violations(in source: String, isTest: Bool) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let code = SwiftText(source).codeLines
        var found: [String] = []
        for (index, line) in lines.enumerated() {
            let report = { (text: String) in found.append("\(index + 1): \(text)") }
            let codeLine = code[index]
            if line.count > columnsMax { report("\(line.count) columns; \(columnsMax) are the most") }
            if codeLine.contains("try!") { report("try! turns an error into a crash; handle it or let it through") }
            if line.contains(stub), codeLine.contains("fatalError(") { report("a stub that traps; leave the function out until it exists") }
            if let mark = reminders.first(where: { hasWord($0, in: line) }) { report("\(mark): reminders belong in an issue") }
            if isTest, codeLine.contains("@Test"), !saysTheBehavior(index, lines) {
                report("a test without a sentence that says the behavior: @Test(\"…\")")
            }
            if isTest, codeLine.contains("sleep(") { report("waiting by the clock; wait for a message, or use a simulated clock") }
            if codeLine.contains(configuration), !(codeLine + (index + 1 < code.count ? code[index + 1] : "")).contains("commandName:") {
                report("a command without commandName, which ArgumentParser then derives in a millisecond, for each command at each start")
            }
            if codeLine.contains("@unchecked Sendable"), !isCommented(index, lines) {
                report("@unchecked Sendable needs a comment directly above that says why it is sound")
            }
        }
        let count = lines.last == "" ? lines.count - 1 : lines.count
        let opening = lines.prefix(5).joined(separator: " ")
        if count > linesMax, !hasWord("table", in: opening), !hasWord("API", in: opening) {
            found.append("1: \(count) lines; split it by state or by verb, or say in its first lines which table or API it is")
        }
        return found
    }

    // Put together from halves, so that this file follows its own rules.
    private static let reminders = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    private static let configuration = "Command" + "Configuration("
    private static let stub = "fatalError(\"unim" + "plemented"

    private static func hasWord(_ word: String, in text: String) -> Bool {
        guard text.contains(word) else { return false }
        return text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }).contains { $0 == word }
    }

    /// Returns whether the attribute `@Test` of a line begins with a sentence, there or on the next line.
    private static func saysTheBehavior(_ index: Int, _ lines: [String]) -> Bool {
        guard let place = lines[index].range(of: "@Test(") else { return false }
        let rest = lines[index][place.upperBound...]
        let beginning = rest.isEmpty && index + 1 < lines.count ? lines[index + 1][...] : rest
        return beginning.trimmingCharacters(in: .whitespaces).hasPrefix("\"")
    }

    /// Returns whether the line above is a comment; attributes on separate lines may come between.
    private static func isCommented(_ index: Int, _ lines: [String]) -> Bool {
        var above = index - 1
        while above >= 0 {
            let line = lines[above].trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("//") || line.hasSuffix("*/") { return true }
            guard line.hasPrefix("@") else { return false }
            above -= 1
        }
        return false
    }
}
