import Testing
import VaubanPasscode
import VaubanSecretBytes

/// The recovery key as digits: the bytes that it encodes, and the typing errors that are found.
@Suite struct RecoveryKeyTests {
    private static let samples: [[UInt8]] = [
        [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0xFF, count: 16), Array(1...16),
        (0..<16).map { UInt8(truncatingIfNeeded: $0 * 151 + 29) },
    ]

    private func digits(_ random: [UInt8]) -> [UInt8] {
        let key = RecoveryKey(random: SecretBytes(copying: random))
        return key.digits.withUnsafeBytes { Array($0) }
    }

    /// Returns the sixteen bytes that typed digits encode, or the error.
    private func read(_ typed: [UInt8]) -> Result<[UInt8], RecoveryKeyError> {
        do throws(RecoveryKeyError) {
            let key = try RecoveryKey(typed: SecretBytes(copying: typed))
            let bytes = key.bytes()
            return .success(bytes.withUnsafeBytes { Array($0) })
        } catch {
            return .failure(error)
        }
    }

    @Test("A recovery key decodes to what was encoded", arguments: samples) func recoveryKeyDecodesToWhatWasEncoded(_ random: [UInt8]) {
        let digits = digits(random)
        #expect(digits.count == 48 && digits.allSatisfy { (0x30...0x39).contains($0) })
        #expect(read(digits) == .success(random))
    }

    @Test("Each group is 16 bits times eleven") func eachGroupIsSixteenBitsTimesEleven() {
        #expect(String(decoding: digits(Array(1...16)), as: UTF8.self) == "002838008492014146019800025454031108036762042416")
        #expect(String(decoding: digits([UInt8](repeating: 0xFF, count: 16)), as: UTF8.self) == String(repeating: "720885", count: 8))
    }

    /// Every group, with all of its 65,536 numbers.
    @Test("Every value of a group decodes") func everyValueOfAGroupDecodes() {
        for number in stride(from: 0, through: 0xFFFF, by: 8) {
            let random = (0..<8).flatMap { [UInt8((number + $0) >> 8), UInt8((number + $0) & 0xFF)] }
            #expect(read(digits(random)) == .success(random))
        }
    }

    @Test("One wrong digit is found in its group", arguments: samples) func oneWrongDigitIsFoundInItsGroup(_ random: [UInt8]) {
        let digits = digits(random)
        var tried = 0
        for place in digits.indices {
            for digit in UInt8(0x30)...0x39 where digit != digits[place] {
                var slipped = digits
                slipped[place] = digit
                #expect(read(slipped) == .failure(.typo(group: place / 6 + 1)))
                tried += 1
            }
        }
        #expect(tried == 48 * 9)
    }

    @Test("Two swapped neighbors are found", arguments: samples) func twoSwappedNeighborsAreFound(_ random: [UInt8]) {
        let digits = digits(random)
        for place in digits.indices.dropLast() where place % 6 != 5 && digits[place] != digits[place + 1] {
            var slipped = digits
            slipped.swapAt(place, place + 1)
            #expect(read(slipped) == .failure(.typo(group: place / 6 + 1)))
        }
    }

    /// Errors that the factor eleven does not reveal: two digits exchanged over one between them, if the number stays small enough, and
    /// exchanged groups. Such a key is read as another one, which is then wrong.
    @Test("Some typing errors are not found") func someTypingErrorsAreNotFound() {
        // For example 1 2 3 4 and 3 2 1 4: 11 × 11 194 = 123 134 and 11 × 29 194 = 321 134.
        var random = [UInt8](repeating: 0, count: 16)
        (random[0], random[1]) = (UInt8(11194 >> 8), UInt8(11194 & 0xFF))
        var slipped = digits(random)
        slipped.swapAt(0, 2)
        #expect(read(slipped) == .success([UInt8(29194 >> 8), UInt8(29194 & 0xFF)] + [UInt8](repeating: 0, count: 14)))

        let twoGroups = digits(Array(1...16))
        let exchanged = Array(twoGroups[6..<12] + twoGroups[0..<6] + twoGroups[12...])
        #expect(read(exchanged) == .success([3, 4, 1, 2] + Array(5...16)))
    }

    @Test("Spaces and hyphens are ignored") func spacesAndHyphensAreIgnored() {
        let plain = String(decoding: digits(Array(1...16)), as: UTF8.self)
        let groups = (0..<8).map { String(plain.dropFirst($0 * 6).prefix(6)) }
        for typed in [
            groups.joined(separator: "-"), groups.joined(separator: " "), " " + groups.joined(separator: " - ") + " ",
            plain.map { "\($0) " }.joined(),
        ] {
            #expect(read(Array(typed.utf8)) == .success(Array(1...16)), "\(typed)")
        }
    }

    @Test("Length and characters are checked") func lengthAndCharactersAreChecked() {
        let digits = digits(Array(1...16))
        #expect(read([]) == .failure(.wrongLength(digits: 0)))
        #expect(read(digits.dropLast()) == .failure(.wrongLength(digits: 47)))
        #expect(read(digits + [0x30]) == .failure(.wrongLength(digits: 49)))
        for sign in [0x2F, 0x3A, 0x41, 0x0A, 0x00, 0xFF, 0x09] as [UInt8] {
            var other = digits
            other[20] = sign
            #expect(read(other) == .failure(.notADigit))
        }
        // A multiple of eleven that no sixteen bits yield.
        #expect(read(Array("720896".utf8) + digits.dropFirst(6)) == .failure(.typo(group: 1)))
        #expect(read(digits.dropLast(6) + Array("999999".utf8)) == .failure(.typo(group: 8)))
    }
}

private extension RecoveryKeyTests {
    func read(_ typed: ArraySlice<UInt8>) -> Result<[UInt8], RecoveryKeyError> { read(Array(typed)) }
}
