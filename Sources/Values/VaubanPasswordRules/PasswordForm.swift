internal import Glibc

/// The length and the characters of a password. All passwords of one form are equally likely to be generated.
package struct PasswordForm: Sendable {
    package let count: Int
    /// The characters that the password is drawn from.
    package let alphabet: PasswordCharacters
    /// Sets of characters, each of which must have one in the password.
    let required: [PasswordCharacters]
    let maxConsecutive: Int?
    /// The share of all strings of the alphabet that have the form, from 0 to 1.
    private let share: Double

    package static let countDefault = 20
    package static let countMax = 1024
    /// The largest number of sets that one password must meet; the work to count passwords doubles with each.
    private static let requiredMax = 10
    /// The smallest permitted share, since strings are drawn until one has the form.
    private static let shareMin = 1e-4

    /// Creates the form with characters of these sets, at least one of each.
    package init(count: Int, of sets: [PasswordCharacters]) throws(PasswordFormError) {
        try self.init(
            count: count, alphabet: sets.reduce(PasswordCharacters()) { $0.union($1) }, required: sets, maxConsecutive: nil)
    }

    /// Creates the form that rules demand. Without a length it has 20 characters, or as close to that as the rules allow. A space, which
    /// many sites cut off at the ends, is used only if a rule demands it.
    package init(_ rules: PasswordRules, count: Int? = nil) throws(PasswordFormError) {
        let least = rules.lengthMin ?? 1
        let most = min(rules.lengthMax ?? Self.countMax, Self.countMax)
        if let limit = rules.lengthMax, limit < least { throw .contradictoryLengths(least, limit) }
        guard least <= Self.countMax else { throw .tooLong(least) }
        let length = count ?? min(max(Self.countDefault, least), most)
        guard (least...most).contains(length) else { throw .lengthOutOfRange(length, least...most) }
        let demanded = rules.required.filter { !$0.isEmpty }
        let takesSpace = demanded.contains(.space) || rules.allowed == .space
        func without(_ set: PasswordCharacters) -> PasswordCharacters { takesSpace ? set : set.subtracting(.space) }
        try self.init(
            count: length, alphabet: without(rules.allowed), required: demanded.map(without), maxConsecutive: rules.maxConsecutive)
    }

    private init(
        count: Int, alphabet: PasswordCharacters, required: [PasswordCharacters], maxConsecutive: Int?
    ) throws(PasswordFormError) {
        self.count = count
        self.alphabet = alphabet
        // A set is satisfied if a subset of it is required too.
        var least: [PasswordCharacters] = []
        for set in required where !required.contains(where: { $0 != set && $0.isSubset(of: set) }) && !least.contains(set) {
            least.append(set)
        }
        guard least.count <= Self.requiredMax else { throw .tooManySets(least.count, max: Self.requiredMax) }
        self.required = least
        self.maxConsecutive = maxConsecutive.flatMap { $0 < count ? $0 : nil }
        share = Self.share(count: count, alphabet: alphabet, required: least, maxConsecutive: self.maxConsecutive)
        guard share >= Self.shareMin else { throw .tooFew(count) }
    }

    /// The binary logarithm of the number of passwords with the form.
    package var bits: Double { Double(count) * log2(Double(alphabet.count)) + log2(share) }

    /// Returns whether a character may follow a run of the same character of this length.
    func allows(run: Int) -> Bool { maxConsecutive.map { run < $0 } ?? true }

    /// Returns the share of strings that contain all required sets, by inclusion and exclusion over the omitted sets. Rules also come from
    /// websites, so the work is bounded: strings are counted once for each number of characters that remain without the omitted sets.
    private static func share(
        count: Int, alphabet: PasswordCharacters, required: [PasswordCharacters], maxConsecutive: Int?
    ) -> Double {
        var known: [Int: Double] = [:]
        var share = 0.0
        for choice in 0..<(1 << required.count) {
            let without = required.indices.filter { choice & 1 << $0 != 0 }
            let left = without.reduce(alphabet) { $0.subtracting(required[$1]) }.count
            let strings = known[left] ?? strings(count, of: left, among: alphabet.count, maxConsecutive)
            known[left] = strings
            share += without.count.isMultiple(of: 2) ? strings : -strings
        }
        return share
    }

    /// Returns the share of the strings over `all` characters that use only `some` of these and have no longer run than allowed, in one
    /// pass over the length.
    private static func strings(_ count: Int, of some: Int, among all: Int, _ maxConsecutive: Int?) -> Double {
        guard some > 0 else { return 0 }
        let (part, one) = (Double(some) / Double(all), 1 / Double(all))
        guard let maxConsecutive else { return pow(part, Double(count)) }
        // For each length: the share of strings that end with a run of one character, and of all strings.
        var fresh = [part]
        var total = [part]
        let longest = pow(one, Double(maxConsecutive))
        for length in 1..<max(count, 1) {
            fresh.append(total[length - 1] * (part - one))
            // Every other string continues the run that a shorter one ends with, unless that is as long as allowed. It then began with a
            // run of one, as many characters before.
            let overlong = length < maxConsecutive ? 0 : fresh[length - maxConsecutive] * longest
            total.append(fresh[length] + (total[length - 1] * one - overlong))
        }
        return total[count - 1]
    }
}
