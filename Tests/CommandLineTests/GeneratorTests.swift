import ArgumentParser
import Foundation
import Testing
import VaubanCommands
import VaubanPasswordRules
import VaubanSecretBytes

/// Secrets of `--generate`.
@Suite struct GeneratorTests {
    @Test("A generated secret has its length and a character of each class", arguments: [4, 20, 1024])
    func secretHasAllClasses(length: Int) throws {
        let made = text(try plan(["--length", "\(length)"]).make())
        #expect(made.count == length)
        for one in CharacterClass.allCases { #expect(made.utf8.contains { one.characters.contains($0) }, "\(one)") }
    }

    @Test("A generated secret has only characters of its classes")
    func secretHasOnlyItsClasses() throws {
        #expect(text(try plan(["--length", "200", "--characters", "digits"]).make()).allSatisfy(\.isNumber))
    }

    @Test("Words come from the list, separated by periods")
    func wordsComeFromList() throws {
        let words = text(try plan(["--words", "6"]).make()).split(separator: ".")
        #expect(words.count == 6 && words.allSatisfy(Set(WordList.words).contains))
    }

    @Test("The word list has 7,776 different words of three to nine letters or hyphens")
    func wordListIsComplete() {
        #expect(WordList.words.count == 7776 && Set(WordList.words).count == 7776)
        #expect(WordList.words.allSatisfy { $0.wholeMatch(of: /[a-z-]{3,9}/) != nil })
    }

    @Test(
        "The summary tells the form and the entropy, and not the secret",
        arguments: [
            ([], "20 characters from a set of 89, 129 bits of entropy"),
            (["--words", "6"], "6 words from a list of 7776, 77 bits of entropy"),
            (["--length", "4", "--characters", "digits"], "4 characters from a set of 10, 13 bits of entropy"),
            // 3! orders of 26 · 26 · 10 choices.
            (["--length", "3", "--characters", "lower,upper,digits"], "3 characters from a set of 62, 15 bits of entropy"),
            (["--rules", "maxlength: 4; allowed: digit"], "4 characters from a set of 10, 13 bits of entropy"),
        ] as [([String], String)])
    func summaryTellsForm(words: [String], summary: String) throws { #expect(try plan(words).summary == summary) }

    @Test("Every character is equally likely")
    func charactersAreEquallyLikely() throws {
        // A chi-squared test with a bound that chance exceeds once in a thousand million runs.
        for (classes, all, bound) in [("digits", 10, 60.0), ("lower,upper,digits,symbols", 89, 215.0)] {
            var counts: [UInt8: Int] = [:]
            for _ in 0..<20 {
                try plan(["--length", "1024", "--characters", classes]).make().withUnsafeBytes {
                    for byte in $0 { counts[byte, default: 0] += 1 }
                }
            }
            let expected = Double(20 * 1024) / Double(all)
            let squared = counts.values.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
            #expect(counts.count == all && squared < bound)
        }
    }

    @Test("Passwords can be generated for every site of the list, whose rules have no fault")
    func siteRulesAreComplete() throws {
        let sites = SiteRules()
        #expect(sites.sites.count == 434)
        for site in sites.sites {
            let rules = PasswordRules(try #require(sites.rules(for: site)).rules)
            #expect(rules.faults.isEmpty, "\(site): \(rules.faults)")
            let form = try PasswordForm(rules)
            let password = form.password { Int.random(in: 0..<$0) }.withUnsafeBytes { Array($0) }
            #expect(
                password.allSatisfy(rules.allowed.contains) && rules.required.allSatisfy { password.contains(where: $0.contains) },
                "\(site)")
        }
    }

    @Test("The rules of a site hold for its subdomains, unless they are exact")
    func siteRulesHoldForSubdomains() throws {
        var sites = SiteRules()
        let exact = #""Exact.example": {"password-rules": "maxlength: 9", "exact-domain-match-only": true}"#
        try sites.add(json: Data(#"{\#(exact), "163.com": {"password-rules": "maxlength: 7"}}"#.utf8))
        #expect(sites.rules(for: "www.act.org")?.site == "act.org")
        #expect(sites.rules(for: "notact.org") == nil && sites.rules(for: "org") == nil && sites.rules(for: "") == nil)
        #expect(sites.rules(for: "exact.example")?.rules == "maxlength: 9" && sites.rules(for: "www.exact.example") == nil)
        #expect(sites.rules(for: "163.com")?.rules == "maxlength: 7")
        #expect(throws: (any Error).self) { try sites.add(json: Data(#"{"a": 1}"#.utf8)) }
    }

    @Test(
        "A fault in the user's own rules refuses them all, and says the site and the place",
        arguments: [
            ("maxlength: 8; required: uper", "the rules of a.example: at character 25: no class of characters is called “uper”"),
            ("minlength 12; maxlength: 64", "the rules of a.example: at character 10: “minlength” needs a colon"),
            ("", nil),
        ])
    func faultsOfOwnRules(rules: String, words: String?) throws {
        var sites = SiteRules()
        let document = Data(#"{"b.example": {"password-rules": "maxlength: 9"}, "a.example": {"password-rules": "\#(rules)"}}"#.utf8)
        guard let words else { return try sites.add(json: document) }
        let fault = #expect(throws: PasswordRulesError.self) { try sites.add(json: document) }
        #expect(fault?.description.hasPrefix(words) == true, "\(fault?.description ?? "")")
        #expect(sites.rules(for: "b.example") == nil)
    }

    @Test(
        "Options that exclude each other are refused",
        arguments: [
            ["--length", "5"], ["--words", "5"], ["--characters", "digits"], ["--generate", "--words", "5", "--length", "7"],
            ["--generate", "--length", "3"], ["--generate", "--length", "0", "--characters", "digits"], ["--generate", "--length", "1025"],
            ["--generate", "--words", "0"], ["--generate", "--words", "65"], ["--generate", "--characters", "lower,lower"],
            ["--generate", "--characters", "many"], ["--rules", "minlength: 8"], ["--for", "example.com"],
            ["--generate", "--rules", "nonsense"], ["--generate", "--rules", "maxlength: 8", "--length", "9"],
            ["--generate", "--rules", "maxlength: 8", "--characters", "digits"], ["--generate", "--for", "a b"],
            ["--generate", "--for", "example.com", "--words", "5"], ["--generate", "--for", "https://anna:secret@example.com/"],
        ])
    func exclusiveOptionsAreRefused(words: [String]) {
        #expect(throws: (any Error).self) { try GenerationOptions.parse(words) }
    }

    private func plan(_ words: [String]) throws -> GenerationPlan { try GenerationOptions.parse(["--generate"] + words).plan() }
}
