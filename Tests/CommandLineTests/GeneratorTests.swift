import ArgumentParser
import Testing
import VaubanCommands
import VaubanSecretBytes

/// Secrets of `--generate`.
@Suite struct GeneratorTests {
    @Test("A generated secret has its length and a character of each class", arguments: [4, 20, 1024])
    func secretHasAllClasses(length: Int) throws {
        let made = text(try GeneratedSecret.characters(length, of: CharacterClass.allCases))
        #expect(made.count == length)
        for one in CharacterClass.allCases { #expect(made.utf8.contains { one.signs.contains($0) }, "\(one)") }
    }

    @Test("A generated secret has only characters of its classes")
    func secretHasOnlyItsClasses() throws {
        #expect(text(try GeneratedSecret.characters(200, of: [.digits])).allSatisfy(\.isNumber))
    }

    @Test("Words come from the list, separated by full stops")
    func wordsComeFromList() throws {
        let words = text(try GeneratedSecret.words(6)).split(separator: ".")
        #expect(words.count == 6 && words.allSatisfy(Set(WordList.words).contains))
    }

    @Test("The word list has 7,776 different words of three to nine letters or hyphens")
    func wordListIsComplete() {
        #expect(WordList.words.count == 7776 && Set(WordList.words).count == 7776)
        #expect(WordList.words.allSatisfy { $0.wholeMatch(of: /[a-z-]{3,9}/) != nil })
    }

    @Test("The entropy counts the secrets of the form")
    func entropyCountsSecrets() {
        #expect(Int(GeneratedSecret.bits(characters: 20, of: CharacterClass.allCases)) == 129)
        #expect(Int(GeneratedSecret.bits(characters: 4, of: [.digits])) == 13)
        // 3! orders of 26 · 26 · 10.
        #expect(Int(GeneratedSecret.bits(characters: 3, of: [.lower, .upper, .digits])) == 15)
        #expect(Int(GeneratedSecret.bits(words: 6)) == 77)
    }

    @Test("Every character is equally likely")
    func charactersAreEquallyLikely() throws {
        // Chi squared with a bound that chance exceeds once in a thousand million runs.
        for (classes, bound) in [([CharacterClass.digits], 60.0), (CharacterClass.allCases, 215.0)] {
            let signs = classes.flatMap(\.signs)
            var counts: [UInt8: Int] = [:]
            for _ in 0..<20 {
                try GeneratedSecret.characters(1024, of: classes).withUnsafeBytes { for byte in $0 { counts[byte, default: 0] += 1 } }
            }
            let expected = Double(20 * 1024) / Double(signs.count)
            let squared = signs.reduce(0.0) { $0 + (Double(counts[$1] ?? 0) - expected) * (Double(counts[$1] ?? 0) - expected) / expected }
            #expect(counts.count == signs.count && squared < bound)
        }
    }

    @Test(
        "Options that exclude each other are refused",
        arguments: [
            ["--length", "5"], ["--words", "5"], ["--characters", "digits"], ["--generate", "--words", "5", "--length", "7"],
            ["--generate", "--length", "3"], ["--generate", "--length", "0", "--characters", "digits"], ["--generate", "--length", "1025"],
            ["--generate", "--words", "0"], ["--generate", "--words", "65"], ["--generate", "--characters", "lower,lower"],
            ["--generate", "--characters", "many"],
        ])
    func exclusiveOptionsAreRefused(words: [String]) {
        #expect(throws: (any Error).self) { try GenerationOptions.parse(words) }
    }

    @Test("The summary tells the form and not the secret")
    func summaryTellsForm() throws {
        #expect(try GenerationOptions.parse(["--generate"]).summary == "20 characters from a set of 89, 129 bits of entropy")
        #expect(try GenerationOptions.parse(["--generate", "--words", "6"]).summary == "6 words from a list of 7776, 77 bits of entropy")
    }
}
