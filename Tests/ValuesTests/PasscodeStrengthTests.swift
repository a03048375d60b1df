import Testing
import VaubanPasscode
import VaubanSecretBytes

/// The assessment of passcodes, and those that are refused.
@Suite struct PasscodeStrengthTests {
    /// If hardware counts the attempts, four digits can suffice.
    private static let counted = PasscodePolicy(charactersMin: 4, digitsMin: 4, allowsObvious: false, offlineGuessSeconds: nil)

    private func strength(_ passcode: String) -> PasscodeStrength { PasscodeStrength(of: SecretBytes(copying: Array(passcode.utf8))) }

    @Test("The strength of a passcode has its kind, its length and its number of guesses") func kindLengthAndGuesses() {
        let expected: [(passcode: String, kind: PasscodeStrength.Kind, characters: Int, log2: Double)] = [
            ("", .digits, 0, 0), ("7", .digits, 1, 3.3219), ("739150", .digits, 6, 19.9316), ("k7vq2m", .lettersAndDigits, 6, 31.0196),
            ("Kvqmzt", .lettersAndDigits, 6, 34.2026), ("K7vq2m", .lettersAndDigits, 6, 35.7252), ("k v.q!", .everything, 6, 35.2959),
            ("K7 v.q", .everything, 6, 39.4191), ("äöüßéè", .everything, 6, 42), ("correct horse battery", .everything, 21, 123.5355),
        ]
        for row in expected {
            let found = strength(row.passcode)
            #expect(found.kind == row.kind && found.characters == row.characters && found.obvious == nil, "\(row.passcode): \(found)")
            #expect(abs(found.guessesLog2 - row.log2) < 0.001, "\(row.passcode): \(found.guessesLog2)")
        }
    }

    @Test(
        "Obvious passcodes are found",
        arguments: [
            ("000000", ObviousPasscode.oneCharacter), ("aaaaaaaaaaaa", .oneCharacter), ("éééééé", .oneCharacter), ("aAaAaA", .oneCharacter),
            ("123456", .runs), ("234567", .runs), ("890123", .runs), ("987654321", .runs), ("210987", .runs), ("abcdef", .runs),
            ("ZYXwvu", .runs),
            ("abc123", .runs), ("123321", .runs), ("111222", .runs), ("abcdefghijklmnopqrstuvwxyz", .runs), ("123abc321", .runs),
            ("121212", .repeatedPattern), ("abcabc", .repeatedPattern), ("1231231", .repeatedPattern), ("a!a!a!a", .repeatedPattern),
            ("abéxabéx", .repeatedPattern), ("20242024", .repeatedPattern), ("123123", .repeatedPattern),
            ("password", .common), ("PassWord", .common), ("password1", .common), ("Password2024", .common), ("qwerty", .common),
            ("qwerty!", .common),
            ("letmein", .common), ("letmein.", .common), ("112233", .common), ("1qaz2wsx", .common), ("trustno1!!", .common),
        ])
    func obviousPasscodesAreFound(_ passcode: String, _ why: ObviousPasscode) {
        let found = strength(passcode)
        #expect(found.obvious == why)
        #expect(found.guessesLog2 <= 13)
        #expect(PasscodePolicy.software.refusal(of: found)?.hasSuffix("which is tried first") == true)
        #expect(Self.counted.refusal(of: found) != nil)
    }

    @Test(
        "Other passcodes are not obvious",
        arguments: [
            "739150", "121213", "123465", "112358", "abcabd", "abcab", "passwords are words", "password12345", "mypassword",
            "correct horse battery",
            "k7vq2m", "äöüßéè", "hunter2hunter2", "12ab34cd", "ab12ab13", "éaéaéb", "abcxyzq",
        ])
    func otherPasscodesAreNotObvious(_ passcode: String) { #expect(strength(passcode).obvious == nil) }

    @Test("The software backend requires six characters") func softwareBackendRequiresSixCharacters() {
        let policy = PasscodePolicy.software
        for (passcode, part) in [
            ("", "at least 6 characters"), ("ab", "at least 6 characters"),
            ("7391", "four digits: whoever has this disk tries them all in at most 42 minutes"),
            ("73915", "at least 6 characters"), ("k7vq2", "at least 6 characters"), ("äöüßé", "at least 6 characters"),
        ] {
            #expect(
                policy.refusal(of: strength(passcode))?.contains(part) == true,
                "\(passcode): \(policy.refusal(of: strength(passcode)) ?? "taken")")
        }
        for passcode in ["739150", "k7vq2m", "äöüßéè", "correct horse battery"] { #expect(policy.refusal(of: strength(passcode)) == nil) }
        // Both functions return the same refusal.
        let refusal = policy.refusal(of: SecretBytes(copying: Array("7391".utf8)))
        #expect(refusal == policy.refusal(of: strength("7391")))
    }

    @Test("A backend that counts attempts may accept four digits") func backendThatCountsAttemptsMayAcceptFourDigits() {
        let policy = Self.counted
        #expect(policy.refusal(of: strength("7391")) == nil)
        #expect(policy.refusal(of: strength("739")) != nil)
        #expect(policy.refusal(of: strength("1234")) != nil)
        #expect(policy.estimate(of: strength("7391")).contains("counts the attempts"))
        let loose = PasscodePolicy(charactersMin: 4, digitsMin: 6, allowsObvious: true, offlineGuessSeconds: 1)
        #expect(
            loose.refusal(of: strength("1234")) != nil && loose.refusal(of: strength("abcd")) == nil
                && loose.refusal(of: strength("123456")) == nil)
    }

    @Test("The estimate of a passcode is described") func estimateIsDescribed() {
        let policy = PasscodePolicy.software
        #expect(
            policy.estimate(of: strength("739150"))
                == "six digits: whoever has this disk tries them all in at most 3 days (a quarter of a second a guess on this machine)")
        #expect(
            policy.estimate(of: strength("73915"))
                == "five digits: whoever has this disk tries them all in at most 7 hours (a quarter of a second a guess on this machine)")
        #expect(
            policy.estimate(of: strength("k7vq2m")).hasPrefix(
                "letters and digits: whoever has this disk tries all of this length in at most 18 years"))
        #expect(policy.estimate(of: strength("correct horse battery")).contains("more than a thousand years"))
        // So many that the number exceeds a Double.
        #expect(policy.estimate(of: strength((100..<440).map { "\($0) " }.joined())).contains("more than a thousand years"))
        // If the estimate of common choices was computed, the text states that, and never more than the time for trying all.
        #expect(
            policy.estimate(of: strength("Summer2024"), likelyGuessesLog2: 15)
                == """
                letters and digits: whoever has this disk and tries words, names, dates and rows of keys first needs about 3 hours (a \
                quarter of a second a guess on this machine)
                """
        )
        #expect(policy.estimate(of: strength("k7vq2m"), likelyGuessesLog2: 80).contains("needs about 18 years"))
        #expect(policy.estimate(of: strength("correct horse battery"), likelyGuessesLog2: 60).contains("needs more than a thousand years"))
        #expect(policy.estimate(of: strength("73915026"), likelyGuessesLog2: 26) == policy.estimate(of: strength("73915026")))
        #expect(
            policy.estimate(of: strength("19870612"), likelyGuessesLog2: 14).hasSuffix(
                "dates and rows of keys first, which takes about 69 minutes"))
        // The number of characters is stated only for digits.
        #expect(!policy.estimate(of: strength("k7vq2mzr")).contains("eight"))
    }

    /// Bytes that are not UTF-8, including lone continuation bytes, are assessed like any others.
    @Test("The estimate accepts any bytes", arguments: [[UInt8](repeating: 0x80, count: 6), [0xFF, 0xFE, 0, 1, 2, 3], [0x80], [0xC3]])
    func estimateAcceptsAnyBytes(
        _ bytes: [UInt8]
    ) {
        let found = PasscodeStrength(of: SecretBytes(copying: bytes))
        #expect(found.characters <= bytes.count)
        #expect(!PasscodePolicy.software.estimate(of: found).isEmpty)
    }
}
