import Foundation
import Testing
import VaubanPasswordRules
import VaubanSecretBytes

/// Passwords that satisfy rules, drawn from numbers of the test.
@Suite struct PasswordFormTests {
    @Test(
        "A generated password meets its rules",
        arguments: [
            "minlength: 8; maxlength: 12; required: upper; required: digit; required: special; max-consecutive: 1",
            "maxlength: 6; required: digit; max-consecutive: 2", "required: [a]; required: [b]; maxlength: 3; allowed: [c]",
            "required: lower; required: [abc]; required: [a-]; minlength: 30", "allowed: [ ]; maxlength: 4",
            "required: [ ]; allowed: lower",
            "minlength: 1024; allowed: unicode", "",
        ])
    func passwordMeetsRules(text: String) throws {
        let rules = PasswordRules(text)
        let form = try PasswordForm(rules)
        for _ in 0..<50 {
            let password = draw(form)
            #expect(password.count >= rules.lengthMin ?? 1 && password.count <= rules.lengthMax ?? 1024)
            #expect(password.allSatisfy(rules.allowed.contains))
            for set in rules.required { #expect(password.contains(where: set.contains)) }
            #expect(longestRun(password) <= rules.maxConsecutive ?? Int.max)
        }
    }

    /// Counts every string of the alphabet and compares the number with the entropy, then draws until each has come up equally often.
    @Test(
        "All passwords of a form are equally likely, and the entropy counts them",
        arguments: [
            "allowed: [abc]; minlength: 4; maxlength: 4; max-consecutive: 1",
            "allowed: [abc]; minlength: 4; maxlength: 4; max-consecutive: 2",
            "required: [ab]; required: [bc]; allowed: [d]; minlength: 3; maxlength: 3",
            "required: [a]; required: [b]; allowed: [cd]; minlength: 4; maxlength: 4; max-consecutive: 2",
            "required: [01]; maxlength: 5; max-consecutive: 3",
        ])
    func passwordsAreEquallyLikely(text: String) throws {
        let rules = PasswordRules(text)
        let form = try PasswordForm(rules)
        let all = strings(of: form.alphabet.characters, form.count).filter { string in
            rules.required.allSatisfy { string.contains(where: $0.contains) } && longestRun(string) <= rules.maxConsecutive ?? Int.max
        }
        #expect(abs(form.bits - log2(Double(all.count))) < 1e-9)
        var counts: [[UInt8]: Int] = [:]
        let rounds = all.count * 200
        for _ in 0..<rounds { counts[draw(form), default: 0] += 1 }
        #expect(Set(counts.keys) == Set(all))
        let squared = all.reduce(0.0) { $0 + pow(Double(counts[$1] ?? 0) - 200, 2) / 200 }
        // A chi-squared test: six standard deviations above the mean, and more for few passwords.
        let freedom = Double(all.count - 1)
        #expect(squared < freedom + 6 * (2 * freedom).squareRoot() + 36)
    }

    /// Compares with integers: for each length and run, how many strings end with such a run.
    @Test("The entropy of long passwords excludes those with long runs", arguments: 1...6)
    func entropyCountsRuns(maxConsecutive: Int) throws {
        let form = try PasswordForm(PasswordRules("allowed: [abcd]; minlength: 26; maxlength: 26; max-consecutive: \(maxConsecutive)"))
        var byRun = [4] + [Int](repeating: 0, count: maxConsecutive - 1)
        for _ in 1..<26 { byRun = [byRun.reduce(0, +) * 3] + byRun.dropLast() }
        #expect(abs(form.bits - log2(Double(byRun.reduce(0, +)))) < 1e-9)
    }

    /// With a pass over the runs of each length for each choice of sets, this would be a thousand million steps.
    @Test("The entropy of the largest demands of a website is computed") func largestDemandsAreCounted() throws {
        let sets = "abcdefghij".map { "required: [\($0)]" }.joined(separator: "; ")
        let form = try PasswordForm(PasswordRules("\(sets); allowed: unicode; minlength: 1024; max-consecutive: 1023"))
        // Nearly every string of this length has all of ten characters.
        let strings = 1024 * log2(Double(form.alphabet.count))
        #expect(form.bits < strings && form.bits > strings - 0.01)
    }

    @Test("A space is used only if a rule demands it")
    func spaceIsUsedOnlyOnDemand() throws {
        #expect(!(try PasswordForm(PasswordRules("required: special")).alphabet.contains(0x20)))
        #expect(try PasswordForm(PasswordRules("required: special; required: [ ]")).alphabet.contains(0x20))
    }

    @Test("The length is 20, or as near as the rules allow")
    func lengthIsNearTwenty() throws {
        for (rules, count) in [("", 20), ("maxlength: 12", 12), ("minlength: 25", 25), ("minlength: 8; maxlength: 64", 20)] {
            #expect(try PasswordForm(PasswordRules(rules)).count == count)
        }
        #expect(try PasswordForm(PasswordRules("minlength: 8; maxlength: 64"), count: 8).count == 8)
    }

    @Test(
        "Rules that no password meets are refused with the reason",
        arguments: [
            ("minlength: 12; maxlength: 8", nil, "The rules demand at least 12 and at most 8 characters"),
            ("maxlength: 8", 9, "The rules allow passwords of 1 to 8 characters, not of 9"),
            ("minlength: 6; maxlength: 6", 9, "The rules allow only passwords of 6 characters, not of 9"),
            ("minlength: 5000", nil, "The rules demand 5000 characters; passwords of up to 1024 can be generated"),
            ("required: [a]; required: [b]; maxlength: 1", nil, "Almost no password with length 1 meets the rules"),
            ("allowed: [a]; max-consecutive: 2", nil, "Almost no password with length 20 meets the rules"),
            (
                "abcdefghijk".map { "required: [\($0)]" }.joined(separator: ";"),
                nil, "The rules require 11 different classes; passwords can be generated for up to 10"
            ),
        ] as [(String, Int?, String)])
    func impossibleRulesAreRefused(rules: String, count: Int?, words: String) {
        #expect { try PasswordForm(PasswordRules(rules), count: count) } throws: { "\($0)".hasPrefix(words) }
    }

    private func draw(_ form: PasswordForm) -> [UInt8] {
        form.password { bound in Int.random(in: 0..<bound) }.withUnsafeBytes { Array($0) }
    }

    private func longestRun(_ password: [UInt8]) -> Int {
        var (longest, run) = (0, 0)
        for (place, character) in password.enumerated() {
            run = place > 0 && password[place - 1] == character ? run + 1 : 1
            longest = max(longest, run)
        }
        return longest
    }

    private func strings(of characters: [UInt8], _ count: Int) -> [[UInt8]] {
        (0..<count).reduce([[]]) { strings, _ in strings.flatMap { string in characters.map { string + [$0] } } }
    }
}
