// The passcodes that are guessed first, whatever their length.

/// Why a passcode is obvious.
package enum ObviousPasscode: Hashable, CaseIterable, Sendable {
    /// "aaaaaa"
    case oneCharacter
    /// "123456", "fedcba", "abc123", "111222": only runs of three or more characters that ascend, descend or repeat.
    case runs
    /// "121212", "abcabc": up to four characters, repeated.
    case repeatedPattern
    /// "password", "Qwerty12", "letmein!": a common one, with at most a few digits or signs after it.
    case common

    /// There are several thousand obvious passcodes in all.
    static let guessesLog2 = 13.0

    /// Classifies the bytes in place. Ignores case, as a guesser would.
    init?(in bytes: UnsafeRawBufferPointer) {
        guard let period = Self.period(of: bytes) else {
            if Self.isRuns(bytes) { self = .runs; return }
            if Self.isCommon(bytes) { self = .common; return }
            return nil
        }
        self = period == 1 ? .oneCharacter : .repeatedPattern
    }

    private static let patternCharactersMax = 4
    private static let runMin = 3
    private static let tailMax = 4

    /// Returns the number of characters that repeat throughout the passcode, at least twice; nil if it does not repeat.
    private static func period(of bytes: UnsafeRawBufferPointer) -> Int? {
        var characters = 0
        for length in 1..<max(bytes.count / 2 + 1, 1) {
            if !PasscodeStrength.isContinuation(bytes[length - 1]) { characters += 1 }
            if characters > patternCharactersMax { return nil }
            // A pattern ends at a character boundary.
            if length < bytes.count, PasscodeStrength.isContinuation(bytes[length]) { continue }
            if (length..<bytes.count).allSatisfy({ folded(bytes[$0]) == folded(bytes[$0 - length]) }) { return characters }
        }
        return nil
    }

    private static func isRuns(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start < bytes.count {
            var end = start + 1
            var step: Int?
            while end < bytes.count, let next = self.step(folded(bytes[end - 1]), folded(bytes[end])), step == nil || step == next {
                step = next
                end += 1
            }
            if end - start < runMin { return false }
            start = end
        }
        return start > 0
    }

    /// Returns the step between two characters: 1, -1 or 0 among digits (0 follows 9) or among letters; nil for anything else.
    private static func step(_ from: UInt8, _ to: UInt8) -> Int? {
        let areDigits = isDigit(from) && isDigit(to)
        guard areDigits || (isLetter(from) && isLetter(to)) else { return nil }
        let difference = Int(to) - Int(from)
        if areDigits, abs(difference) == 9 { return difference == 9 ? -1 : 1 }
        return abs(difference) <= 1 ? difference : nil
    }

    private static func isCommon(_ bytes: UnsafeRawBufferPointer) -> Bool {
        commonest.contains { word in
            guard bytes.count >= word.count, bytes.count <= word.count + tailMax else { return false }
            return bytes.indices.allSatisfy { $0 < word.count ? folded(bytes[$0]) == word[$0] : !isLetter(folded(bytes[$0])) }
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ folded: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(folded) }

    /// Passwords from the lists published each year; a selection, not a dictionary. Lowercase only.
    private static let commonest: [[UInt8]] = [
        "password", "passw0rd", "p@ssword", "p@ssw0rd", "passwort", "passcode", "letmein", "welcome", "iloveyou", "sunshine", "princess",
        "football", "baseball", "superman", "starwars", "whatever", "trustno1", "computer", "internet", "michael", "monkey", "dragon",
        "master",
        "shadow", "secret", "changeme", "default", "admin", "login", "vauban", "qwerty", "qwertz", "azerty", "qwertyuiop", "asdfgh",
        "asdfghjkl",
        "zxcvbn", "zxcvbnm", "qazwsx", "1q2w3e", "1q2w3e4r", "1qaz2wsx", "112233", "102030", "147258", "147258369", "159753", "159357",
        "246810",
        "135790", "142536", "789456", "741852",
    ].map { Array($0.utf8) }
}
