internal import Glibc
package import VaubanSecretBytes

/// The passcodes that a backend accepts, as data. If hardware counts the attempts, four digits can suffice; if the disk alone allows
/// guessing, they cannot.
package struct PasscodePolicy: Hashable, Sendable {
    /// Least number of characters.
    package let charactersMin: Int
    /// Least number of characters if all are digits.
    package let digitsMin: Int
    package let allowsObvious: Bool
    /// The minimum cost of one guess with the disk alone, on a machine like this, to which the key derivation is calibrated. Nil if
    /// guessing needs the hardware, which counts attempts.
    package let offlineGuessSeconds: Double?

    package static let software = PasscodePolicy(charactersMin: 6, digitsMin: 6, allowsObvious: false, offlineGuessSeconds: 0.25)

    package init(charactersMin: Int, digitsMin: Int, allowsObvious: Bool, offlineGuessSeconds: Double?) {
        self.charactersMin = charactersMin
        self.digitsMin = digitsMin
        self.allowsObvious = allowsObvious
        self.offlineGuessSeconds = offlineGuessSeconds
    }

    /// Returns why the passcode is rejected, as text for the user; nil if it is accepted.
    package func refusal(of strength: PasscodeStrength) -> String? {
        let least = strength.kind == .digits ? max(charactersMin, digitsMin) : charactersMin
        if strength.characters < least {
            let needed = "at least \(least) characters are needed"
            // For a very short passcode, the estimate would add nothing.
            guard strength.characters >= 4 else { return needed }
            return "\(estimate(of: strength)); \(needed)"
        }
        if !allowsObvious, let obvious = strength.obvious { return "it is \(obvious.words), which is tried first" }
        return nil
    }

    package func refusal(of passcode: borrowing SecretBytes) -> String? { refusal(of: PasscodeStrength(of: passcode)) }

    /// Returns a sentence for the user about the cost of guessing offline. States the number of characters only for digits, since others
    /// may read the screen. `likelyGuessesLog2` is the estimate for a guesser who tries common choices first, if it was computed.
    package func estimate(of strength: PasscodeStrength, likelyGuessesLog2: Double? = nil) -> String {
        let what =
            switch strength.kind {
            case .digits: "\(Self.number(strength.characters)) digit\(strength.characters == 1 ? "" : "s")"
            case .lettersAndDigits: "letters and digits"
            case .everything: "letters and symbols"
            }
        guard let offlineGuessSeconds else { return "\(what): guessing needs this machine, which counts the attempts" }
        let seconds = exp2(strength.guessesLog2) * offlineGuessSeconds
        let pace = offlineGuessSeconds == 0.25 ? "a quarter of a second" : "\(offlineGuessSeconds) seconds"
        let paced = "(\(pace) a guess on this machine)"
        if let likelyGuessesLog2 {
            let likely = exp2(min(likelyGuessesLog2, strength.guessesLog2)) * offlineGuessSeconds
            let time = likely > Self.longest ? "more than a thousand years" : "about \(Self.duration(likely))"
            guard strength.kind == .digits else {
                return "\(what): whoever has this disk and tries words, names, dates and rows of keys first needs \(time) \(paced)"
            }
            // The passcode is, for example, a date or a row of keys.
            if likely < seconds / 2, seconds <= Self.longest {
                return
                    """
                    \(what): whoever has this disk tries them all in at most \(Self.duration(seconds)) \(paced), and dates and rows of \
                    keys first, 
                    """
                        + "which takes \(time)"
            }
        }
        switch (seconds > Self.longest, strength.kind) {
        case (true, _):
            return "\(what): trying them all takes more than a thousand years \(paced), but words, names and dates are tried first"
        case (false, .digits): return "\(what): whoever has this disk tries them all in at most \(Self.duration(seconds)) \(paced)"
        case (false, _):
            return
                """
                \(what): whoever has this disk tries all of this length in at most \(Self.duration(seconds)) \(paced), and words, \
                names and dates first
                """
        }
    }

    private static let year = 365.25 * 24 * 3600
    private static let longest = 1000 * year

    /// Rounds up, so that "at most" stays true.
    static func duration(_ seconds: Double) -> String {
        let units = [
            ("second", 1.0, 120.0), ("minute", 60, 7200), ("hour", 3600, 48 * 3600), ("day", 24 * 3600, 2 * year),
            ("year", year, .infinity),
        ]
        for (name, length, end) in units where seconds <= end {
            let count = Int(max((seconds / length).rounded(.up), 1))
            return "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return "a very long time"
    }

    private static func number(_ count: Int) -> String {
        let words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
        return words.indices.contains(count) ? words[count] : "\(count)"
    }
}

extension ObviousPasscode {
    var words: String {
        switch self {
        case .oneCharacter: "one character again and again"
        case .runs: "made of rows such as 123 or abc"
        case .repeatedPattern: "the same few characters again and again"
        case .common: "one of the commonest passcodes"
        }
    }
}
